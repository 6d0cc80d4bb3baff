"use strict";
// what report.js needs beside it: the scenes of this page, and the name of the script that turns them
const drawings = JSON.parse(document.getElementById("drawings").textContent), bundle = "plotly.js";
