#!/usr/bin/python3
"""Stands in for bisheng: takes the options that its documentation names, and no other.

asc-devkit docs/zh/guide (compiling with -x asc, --npu-arch), bisheng's own --cce-auto-sync.
"""

import pathlib
import re
import sys

KNOWN = [r"-x", r"asc", r"--npu-arch=dav-\d{4}", r"-std=c\+\+17", r"-O[0-3]",
         r"--cce-auto-sync=(on|off)", r"-I.+", r"-idirafter.+", r"-L.+", r"-l\w+",
         r"-o", r"launcher", r"[\w./]+\.cpp"]  # fmt: skip
for word in sys.argv[1:]:
    if not any(re.fullmatch(one, word) for one in KNOWN):
        sys.exit(f"bisheng: error: unknown argument: '{word}'")
kernels = "".join(
    p.read_text() for p in pathlib.Path("op_kernel").glob("*") if p.suffix in (".cpp", ".h")
)
for path in sorted(pathlib.Path("op_kernel").glob("*.cpp")):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if "no_such_name" in line:
            place = f"{path}:{number}:{line.index('no_such_name') + 1}"
            sys.exit(f"{place}: error: use of undeclared identifier 'no_such_name'")
program = pathlib.Path("launcher")
program.write_text(
    "#!/usr/bin/python3\n"
    "import array, sys\n"
    "lines = [l.rstrip('\\n').split('\\t') for l in open(sys.argv[1])]\n"
    "data = array.array('f', open([l for l in lines if l[0] == 'input'][0][1], 'rb').read())\n"
    "out = [l for l in lines if l[0] == 'output'][0]\n"
    "array.array('f', [2 * x + 1 for x in data]).tofile(open(out[1], 'wb'))\n"
)
program.chmod(0o755)
pathlib.Path("told").write_text(kernels)
