"""Profiler output of our own in the layout of CANN 8.x: figures are made up, names are theirs.

Columns and their order: msopprof's `metric_csv_header.h`; the comma behind each line, NA for the
other kind of core and cube0/vector0 as `sub_block_id`: files that CANN 8.5 wrote.
"""

from __future__ import annotations

from pathlib import Path

BASIC = (
    "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid,Current Freq,"
    "Rated Freq,\nadd_custom_mix_aic,mix,{us},2,4,0,NA,{clock},1650,\n"
)
PIPES = """\
block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_cube_time(us),aic_cube_ratio,\
aic_scalar_time(us),aic_scalar_ratio,aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),\
aic_mte2_ratio,aic_fixpipe_time(us),aic_fixpipe_ratio,aiv_time(us),aiv_total_cycles,\
aiv_vec_time(us),aiv_vec_ratio,aiv_scalar_time(us),aiv_scalar_ratio,aiv_mte2_time(us),\
aiv_mte2_ratio,aiv_mte3_time(us),aiv_mte3_ratio,
0,cube0,8.0,13200,4.0,0.5,1.0,0.1,0.5,0.06,3.0,0.4,0.25,0.03,NA,NA,NA,NA,NA,NA,NA,NA,NA,NA,
0,vector0,NA,NA,NA,NA,NA,NA,NA,NA,NA,NA,NA,NA,4.0,6600,2.0,0.5,1.0,0.2,5.0,0.6,1.5,0.2,
0,vector1,NA,NA,NA,NA,NA,NA,NA,NA,NA,NA,NA,NA,4.0,6600,3.0,0.7,1.0,0.2,4.0,0.6,2.5,0.3,
"""
MEMORY = """\
block_id,sub_block_id,aiv_time(us),read_main_memory_datas(KB),write_main_memory_datas(KB),
0,cube0,NA,2.5,0.5,
0,vector0,4.0,128.0,64.0,
0,vector1,4.0,128.0,NA,
"""
CONFLICTS = """\
sub_block_id,block_id,aiv_vec_total_cflt_ratio,aiv_total_cycles,
vector0,0,0.1,6600,
vector1,0,0.3,6600,
cube0,0,NA,NA,
"""
L2 = """\
block_id,sub_block_id,aiv_time(us),aiv_total_cycles,aiv_read_hit_rate(%),aic_read_hit_rate(%),
0,vector0,4.0,6600,40.0,NA,
0,vector1,4.0,6600,60.0,NA,
"""
ARITHMETIC = """\
block_id,sub_block_id,aiv_time(us),aiv_total_cycles,aiv_vec_fp32_ratio,aiv_vec_fp16_ratio,
0,vector0,4.0,6600,0.25,0.0,
"""
OP_SUMMARY = """\
Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),\
Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,\
aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_mte2_time(us),\
aiv_time(us),aiv_vec_time(us),aiv_mte2_time(us)
0,4294967295,0,16,add_custom,AddCustom,dynamic,MIX_AIC,1000000.000,12.5,0,2,4,NO,"""
OP_SUMMARY += """"8,2048;8,2048",9.0,14850,6.0,0.6,2.0,8.0,3.0,4.0
0,4294967295,1,16,hcom_broadcast,hcom_broadcast_,dynamic,HCCL,1000100.000,N/A,0,0,N/A,N/A,N/A
0,4294967295,2,16,add_custom,AddCustom,dynamic,MIX_AIC,1000200.000,11.5,2.88,2,4,NO,"8"
"""
TABLES = {
    "PipeUtilization": PIPES,
    "Memory": MEMORY,
    "ResourceConflictRatio": CONFLICTS,
    "L2Cache": L2,
    "ArithmeticUtilization": ARITHMETIC,
}
INSTRUCTIONS = """\
instr,addr,pipe,call_count,cycles,running_time(us),detail
MOV_OUT_TO_UB,288400800,MTE2,16,5376,2.99,"Src:OUT,Dst:UB,XD:X19=0x200"
VADD,288401332,VECTOR,8,2944,0.104,"XD:X16=0x400,Dtype:F16"
WAIT_FLAG,288400520,SCALAR,16,36006,0.7,"PIPE:MTE2,FLAGID:0"
VADD,28840
"""


def write_launch(folder: Path, us: float = 12.34, clock: str = "1650", **tables: str) -> Path:
    """The folder of one launch, with the tables that are given, or all."""
    folder.mkdir(parents=True)
    (folder / "OpBasicInfo.csv").write_text(BASIC.format(us=us, clock=clock))
    for name, text in (tables or TABLES).items():
        (folder / f"{name}.csv").write_text(text)
    return folder
