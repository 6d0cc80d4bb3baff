# The names of the desk as type checkers and editors see them; at run time they are loaded when first used.
from elastocal.desk import calibration as calibration
from elastocal.desk import cell as cell
from elastocal.desk import files as files
from elastocal.desk import plan as plan
from elastocal.desk import program as program
from elastocal.desk import readings as readings
from elastocal.desk import robot as robot
from elastocal.desk import work as work
from elastocal.desk.cell import new as new
from elastocal.desk.cell import read_cell as read_cell
from elastocal.desk.cell import status as status
from elastocal.desk.readings import columns as columns
from elastocal.desk.work import run as run
from elastocal.store.history import History as History
