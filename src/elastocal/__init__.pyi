# The names of the front door as type checkers and editors see them; at run time they are loaded when first used.
from elastocal import desk as desk
from elastocal import procedures as procedures
from elastocal.calibration.calibration import Calibration as Calibration
from elastocal.calibration.campaign import Campaign as Campaign
from elastocal.calibration.comparison import compare as compare
from elastocal.calibration.export import export as export
from elastocal.calibration.planning import plan as plan
from elastocal.calibration.readings import read_campaign as read_campaign
from elastocal.calibration.run import calibrate as calibrate
from elastocal.calibration.simulation import assess as assess
from elastocal.calibration.simulation import simulate as simulate
from elastocal.calibration.store import read_calibration as read_calibration
from elastocal.calibration.validation import cross_validate as cross_validate
from elastocal.compensation.iso9283 import iso9283 as iso9283
from elastocal.compensation.process import ProcessLoad as ProcessLoad
from elastocal.compensation.run import compensate as compensate
from elastocal.design import loading
from elastocal.design import obstacles as obstacles
from elastocal.design.cell import Cell as Cell
from elastocal.errors import InputError as InputError
from elastocal.files.programs import read_program as read_program
from elastocal.files.robot.read import read_robot as read_robot
from elastocal.files.robot.read import shipped_robots as shipped_robots
from elastocal.measure import sources as sources
from elastocal.measure.sources.instrument import Tracker as Tracker
from elastocal.model.robot import Robot as Robot
from elastocal.published.case import reproduce as reproduce
from elastocal.spatial.pose import Pose as Pose
from elastocal.store.history import history as history

loads = loading
__version__: str
