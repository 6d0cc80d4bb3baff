%%%
  VERSION:1
  LANGUAGE:ENGLISH
%%%
MODULE Contour
  ! Contour 300 x 160 mm with corners of 40 mm, cutter D20, 5 mm deep.
  ! Part 1.75 m in front of the robot (wPart); spindle along x of the flange (tSpindle, flange axes as in kuka-kr270).
  PERS tooldata tSpindle:=[TRUE,[[0,100,200],[1,0,0,0]],[20,[0,0,80],[1,0,0,0],0,0,0]];
  PERS wobjdata wPart:=[FALSE,TRUE,"",[[1750,-80,800],[1,0,0,0]],[[0,0,0],[1,0,0,0]]];
  CONST jointtarget jHome:=[[0,-90,90,0,90,0],[9E9,9E9,9E9,9E9,9E9,9E9]];
  CONST robtarget pStart:=[[60,0,-5],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]];
  CONST robtarget pCorner1:=[[260,0,-5],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]];

  PROC main()
    ConfL\Off;
    MoveAbsJ jHome\NoEOffs,v1000,fine,tSpindle;
    MoveJ Offs(pStart,0,0,65),v500,z10,tSpindle\WObj:=wPart;
    MoveL pStart,v50,fine,tSpindle\WObj:=wPart;
    MoveL pCorner1,v20,z1,tSpindle\WObj:=wPart;
    MoveC [[288.284,11.716,-5],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],[[300,40,-5],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v20,z1,tSpindle\WObj:=wPart;
    MoveL [[300,120,-5],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v20,z1,tSpindle\WObj:=wPart;
    MoveC [[288.284,148.284,-5],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],[[260,160,-5],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v20,z1,tSpindle\WObj:=wPart;
    MoveL [[40,160,-5],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v20,z1,tSpindle\WObj:=wPart;
    MoveC [[11.716,148.284,-5],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],[[0,120,-5],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v20,z1,tSpindle\WObj:=wPart;
    MoveL [[0,40,-5],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v20,z1,tSpindle\WObj:=wPart;
    MoveC [[11.716,11.716,-5],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],[[40,0,-5],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v20,z1,tSpindle\WObj:=wPart;
    MoveL pStart,v20,fine,tSpindle\WObj:=wPart;
    MoveL RelTool(pStart,0,0,-65),v100,z10,tSpindle\WObj:=wPart;
    MoveAbsJ jHome\NoEOffs,v1000,fine,tSpindle;
  ENDPROC
ENDMODULE
