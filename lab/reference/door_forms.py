"""Which forms of calls one door takes and the other refuses.

    python -m lab.reference.door_forms --asc-headers DIR

The compiler says of each call, with right and wrong arguments and types, whether an overload takes
it. A form that only our headers take lets a kernel pass here that does not compile on the device.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import click

from ci.host.door import FrontDoor, open_door
from ci.host.door.own import own_headers
from ci.host.source_tree import lay
from ci.simulator.toolchain import Toolchain
from ci.system.compiler import compiler
from rules.architectures import load_architecture

ELEMENTS = ("half", "float", "int32_t", "int16_t")
# By the names of calls: their forms. L is a tensor of the element, O of another one, B of bytes; G
# and P lie in global memory (P of the other element), v is a scalar of the element.
FORMS = {
    "Add Sub Mul Div Max Min And Or AddRelu SubRelu FusedMulAdd MulAddRelu": """
        L L L int|L L O int|O L L int|L L L|L L v int|L L L float&
        |L L L int& int& BinaryRepeatParams&|L L L int& int& UnaryRepeatParams&
        |L L L uint64_t* int& BinaryRepeatParams&
        |L L L int* int& BinaryRepeatParams&|L L L float& int& BinaryRepeatParams&""",
    "Exp Ln Abs Sqrt Rsqrt Reciprocal Relu Not": """
        L L int|L O int|L L|L L float&|L L int& int& BinaryRepeatParams&
        |L L uint64_t* int& UnaryRepeatParams&|L L int* int& UnaryRepeatParams&""",
    "Adds Muls Maxs Mins LeakyRelu ShiftLeft ShiftRight": """
        L L v int|L L float& int|L L double& int|L L int& int|L L half& int|L L bool& int
        |L L v int& int& UnaryRepeatParams&|L L double& int& int& UnaryRepeatParams&""",
    """Log Log2 Log10 Floor Ceil Round Trunc Frac Sign Sigmoid Silu Tanh Sinh Cosh Sin Cos Tan Atan
    Asin Acos Erf Erfc Acosh Asinh Atanh Gelu FasterGelu FasterGeluV2""": """
        L L|L L B|L L uint32_t|L L B uint32_t|L O uint32_t|L L float&|L L L uint32_t""",
    "GeGLU ReGlu Fmod Xor": "L L L|L L L B|L L L uint32_t|L L L B uint32_t|L O L uint32_t",
    "ClampMax ClampMin Swish Power": """
        L L v uint32_t|L L B v uint32_t|L L v|L L uint32_t v|L L v B uint32_t
        |L L double& uint32_t""",
    "ReduceSum ReduceMax ReduceMin": "L L L int|L O L int|L L O int|L L L float&",
    "WholeReduceSum WholeReduceMax": "L L int& int& int& int& int&|L O int& int& int& int& int&",
    "BlockReduceSum PairReduceSum": "L L int& int& int& int& int&|L O int& int& int& int& int&",
    "DataCopy": "L G int|G L int|L L int|L P int|P L int|L O int|L G Nd2NzParams&|L L Nd2NzParams&",
    "DataCopyPad": """
        L G DataCopyExtParams& DataCopyPadParams&|L G DataCopyExtParams&|G L int
        |L G DataCopyParams& DataCopyPadParams&""",
    "Duplicate": "L v int|L double& int|L v int& int& int& int&",
    "Compare": "B L L CMPMODE int|L L L CMPMODE int|B L O CMPMODE int",
    "CompareScalar Compares": "B L v CMPMODE int|B L double& CMPMODE int",
    "Select": """
        L B L L SELMODE int|L B L v SELMODE int|L B L double& SELMODE int|L B O L SELMODE int""",
    "Gather": "L L LocalTensor<uint32_t>& uint32_t uint32_t|L L LocalTensor<int32_t>& int int",
    "BatchNorm": "L L L L L L v BatchNormTiling&|L L L L L L B v BatchNormTiling&",
    "Pad": "L L PadParams& PadTiling&|L L PadParams& B PadTiling&|L O PadParams& PadTiling&",
}  # fmt: skip


def probes() -> list[tuple[str, str]]:
    """Each call with its arguments' types, in words of C++."""
    found = []
    for (names, forms), element in product(FORMS.items(), ELEMENTS):
        other = "half" if element == "float" else "float"
        words = {
            "L": f"LocalTensor<{element}>&", "O": f"LocalTensor<{other}>&",
            "B": "LocalTensor<uint8_t>&", "G": f"GlobalTensor<{element}>&",
            "P": f"GlobalTensor<{other}>&", "v": f"{element}&",
        }  # fmt: skip
        for name, form in product(names.split(), forms.split("|")):
            found.append((name, ", ".join(words.get(word, word) for word in form.split())))
    return list(dict.fromkeys(found))


def taken(door: FrontDoor) -> Mapping[tuple[str, str], bool]:
    """Whether an overload of the door takes each probe, without probes of calls that it lacks."""
    with tempfile.TemporaryDirectory(prefix="ascendopt-") as folder:
        lay(Path(folder), door.generated)
        base = [*Toolchain(load_architecture("dav-c220"), door=door).kernel_flags("vector"),
                *door.arguments(), f"-I{folder}"]  # fmt: skip
        base = [flag for flag in base if flag != "-c"]
        start = (
            f"{door.prefix}#include <type_traits>\n#include <utility>\nusing namespace AscendC;\n"
        )
        words = set(re.findall(r"\w+", _compiled([*base, "-E"], start)))
        asked = [
            (name, types)
            for name, types in probes()
            if name in words and set(re.findall(r"\w+Params|\w+Tiling", types)) <= words
        ]
        lines = ["namespace probe {"]
        for name in sorted({name for name, _ in asked}):
            lines.append(
                f"template <class... A> auto has_{name}(int)"
                f" -> decltype(AscendC::{name}(std::declval<A>()...), std::true_type());"
                f"template <class... A> std::false_type has_{name}(...);"
            )
        answers = (f"decltype(has_{n}<{types}>(0))::value ? '1' : '0'" for n, types in asked)
        lines.append(f"extern const char table[] = {{{', '.join(answers)}, 0}};\n}}")
        text = _compiled([*base, "-S"], start + "\n".join(lines))
        bits = "".join(re.findall(r'\.(?:string|ascii|asciz)\s+"([01]+)', text))
    return dict(zip(asked, (bit == "1" for bit in bits), strict=True))


def _compiled(flags: list[str], text: str) -> str:
    command = [compiler(), "-x", "c++", *flags, "-o", "-", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def differences(one: FrontDoor, other: FrontDoor) -> tuple[int, list[str], list[str]]:
    """How many probes both doors know, and the calls that only one or only the other takes."""
    first, second = taken(one), taken(other)
    both = [probe for probe in first if probe in second]
    only = [f"{n}({t})" for n, t in both if first[n, t] and not second[n, t]]
    lacking = [f"{n}({t})" for n, t in both if second[n, t] and not first[n, t]]
    return len(both), only, lacking


@click.command()
@click.option("--asc-headers", required=True, help="An asc-devkit checkout or 'installed'.")
def main(asc_headers: str) -> None:
    """Compare the forms of calls that our headers and these take."""
    count, only, lacking = differences(own_headers(), open_door(asc_headers))
    for call in only:
        click.echo(f"only ours: {call}")
    for call in lacking:
        click.echo(f"only these: {call}")
    click.echo(f"{count - len(only) - len(lacking)} of {count} calls have the same answer.")


if __name__ == "__main__":
    main()
