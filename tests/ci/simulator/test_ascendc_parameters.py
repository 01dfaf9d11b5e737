"""What a kernel passes to the API our headers read, refuse, or may pass over for a reason."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from ci.host.door.own import HEADERS, own_headers
from ci.simulator.toolchain import Toolchain
from ci.source.cpp_source import Source
from ci.system.compiler import compiler
from rules.architectures import load_architecture
from tests.ci.simulator.ascendc_harness import AscendCHarness

PARAMETERS = {
    "permits or promises something that changes no result": """
        isReuseSource isReuseSrc isReuseMask isBasicBlock highPrecision highPerformance""",
    "space that ours does not need": "sharedTmpBuffer isInitBitMode",
    "a split or an algorithm; ours has its own, with the same results": "tiling tilling",
    "the documentation has it as reserved": "dstBlkStride reduceDim FORCE vector cube",
    "which pipe waits, or where a value counts; ours is for the whole core": "mode pipe pos",
    "one offset and scale for all have no shape": "isTranspose shapeInfo k",
    "steps of one type for all operations": "pass factor scratch",
    "a conversion without a choice": "mode",
    "the meeting is the machine's": "flags local isAIVOnly waitIterateBatch sync",
    "only configures what is read where it is used": "config",
}
FUNCTIONS = {
    "prints or dumps, which does nothing here": """
        Print printf PRINTF DumpTensor DumpAccChkPoint InitDump PrintTimeStamp""",
    "checks on a device, which the machine does always": """
        OOMCheckAddrRange OOMAddAddrForL2Cache""",
    "caches that cost nothing here": """
        ICachePreLoad DataCachePreload GetTemporaryBufferAddr
        FreeTemporaryBuffer SetUserTag
        """,
    "which buffer is next the queue knows": "EnQue FreeTensor Init",
    "space that ours does not need": """
        Concat Transpose DropOutBitModeInit SetLocalWorkspace ClampMax ClampMin UnPad SetWorkspace
        """,
    "the flags are the machine's": "IBSet IBWait",
    "the mask has no effect on the 910B": "Compare CompareScalar",
    "the mask is set whatever it says": "Select",
    "no result depends on it": "SetMMLayoutTransform LayerNorm SetBatchNum SetSubBlockIdx",
    "data of callbacks, which our Matmul refuses": "SetSelfDefineData SetUserDefInfo",
    "Matmul has its own part of each": "start_matmul within_limits GetTensorC IterateAll",
    "a split; ours needs none": "SoftMaxFlashV2TilingFunc",
    "a call that is refused": "LoadData DataCopy",
    "a half has one scale and a place of its own": "dequantise",
}
MEMBERS = {
    "reserved in the documentation": """
        blockNumber repeatStrideMode strideSizeMode halfBlock rsv reserved enSmallK gemvCtrl
        """,
    "what a split of the toolkit holds": "TopkTiling ConfusionTransposeTiling",
    "formats and event ids of queues, which change no copy of ours": "TQueConfig",
    "another name of what is read": "srcGap",
    "may speed up and changes no result": "MatmulConfig isInplace algorithm algo",
    "a shape that the calls do not look at": """
        originalShapeDim originalShape dataFormat offsetHeight offsetWidth oriSrcM isCheckTiling
        oriSrcK rnLength abLength srcOriWidth""",
    "written at compile time as well as passed": "calcCount offsetCount scaleCount workLocalSize",
    "values of what is refused": """
        LoadData2DParamsV2 DataCopyOutParams deqValue deqTensorAddr padValue blockMode
        isReuseSource""",
}

STRUCTURE = re.compile(
    r"^(?:template <[^>]*> )?struct (?:alignas\(\d+\) )?(\w*(?:Para|Config|Info|Tiling)\w*)"
    r"[^;{]*\{(.*?)^\};",
    re.DOTALL | re.MULTILINE,
)


def words(table: dict[str, str]) -> set[str]:
    return {word for some in table.values() for word in some.split()}


@cache
def expanded() -> Source:
    """Our kernel headers with their macros expanded, without those of the machine."""
    text = f'{own_headers().prefix}#include "{HEADERS}/lib/matmul_intf.h"\n'
    flags = Toolchain(load_architecture("dav-c220")).kernel_flags("vector")
    command = [compiler(), "-E", "-x", "c++", *flags, *own_headers().arguments(), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    ours, lines = False, []
    for line in done.stdout.splitlines():
        mark = re.match(r'# \d+ "([^"]*)"', line)
        if mark:
            ours = mark[1].startswith(str(HEADERS)) and "/device/" not in mark[1]
        elif ours:
            lines.append(line)
    return Source("\n".join(lines))


def names(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))


def unread(source: Source) -> Iterator[tuple[str, str]]:
    """Each function with a parameter that its body does not name ('' where it has no name)."""
    for function in source.functions:
        declarator = function.node.child_by_field_name("declarator")
        while declarator is not None and declarator.type != "function_declarator":
            declarator = declarator.child_by_field_name("declarator")
        given = declarator.child_by_field_name("parameters") if declarator else None
        if given is None:
            continue
        inside = [c for c in function.node.children if c.type == "field_initializer_list"]
        body = function.node.child_by_field_name("body")
        used = names(" ".join(source.code(part) for part in (*inside, *([body] if body else []))))
        for parameter in given.named_children:
            if "parameter_declaration" not in parameter.type:
                continue
            name = parameter.child_by_field_name("declarator")
            called = names(source.code(name)) if name is not None else set()
            if not called & used:
                yield function.name, max(called, key=len, default="")
        above = function.node.parent
        if above is None or above.type != "template_declaration":
            continue
        whole = names(source.code(function.node))
        for parameter in above.child_by_field_name("parameters").named_children:
            text = source.code(parameter).partition("=")[0]
            if "enable_if" in text:
                continue
            name = (
                re.findall(r"\w+", text)[-1]
                if parameter.type != "type_parameter_declaration"
                else ""
            )
            if parameter.type.startswith(("parameter", "optional_parameter")) and name not in whole:
                yield function.name, name


def test_each_parameter_of_the_api_is_read_or_has_a_reason_not_to_be() -> None:
    found = {
        (function.rpartition("::")[2], name)
        for function, name in unread(expanded())
        if name not in words(PARAMETERS)
    }
    assert {pair for pair in found if pair[0] not in words(FUNCTIONS)} == set()
    stale = words(FUNCTIONS) - {function for function, _ in found}
    assert stale == set(), "these read all that they are given"


def test_each_member_of_a_structure_is_read_or_has_a_reason_not_to_be() -> None:
    headers = [path.read_text() for path in sorted(HEADERS.rglob("*.h"))]
    read = set(re.findall(r"(?:\.|->)\s*(\w+)", "\n".join(headers)))
    excused, found = words(MEMBERS), set()
    for text in headers:
        for name, body in STRUCTURE.findall(text):
            members = re.findall(r"\([\w:]+, (\w+), [^(),]+\)", body)
            members += re.findall(
                r"^\s+[\w:<>]+ (\w+)(?: =[^;]*|\{[^}]*\}|\[[^;()]*)?;", body, re.M
            )
            found |= {(name, m) for m in members if m not in read}
    assert {pair for pair in found if not set(pair) & excused} == set()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("DataCopyEnhancedParams e; e.isRelu = true; DataCopy(d, x, DataCopyParams(), e);",
         "no ReLU"),
        ("LocalTensor<half> l1(TPosition::A1, 0, 64); DataCopy(l1, x, 64);", "tables"),
        ("LocalTensor<half> l0(TPosition::A2, 0, 64); DataCopy(l0, global<half>(a[0]), 64);",
         "L1"),
        ("LocalTensor<half> l0(TPosition::CO1, 0, 64); DataCopy(global<half>(a[1]), l0, 64);",
         "L1"),
        ("const uint32_t s[] = {2, 9}; ReduceMax<half, Pattern::Reduce::AR>(d, x, s, false);",
         "srcInnerPad"),
        ("Pad(d, x, PadParams{1, 1, 0}, PadTiling{2, 16, 15});", "right only"),
        ("UnPad(d, x, UnPadParams{1, 1}, UnPadTiling{2, 16});", "right only"),
    ],
)  # fmt: skip
def test_what_a_call_does_not_model_is_refused(
    kernels: AscendCHarness, call: str, said: str
) -> None:
    body = f"""Desk desk; auto x = desk.take<half>(a[0], 64); auto d = desk.empty<half>(64);
        {{ {call} }} desk.give(a[1], 0, d, 64);"""
    tensors = [np.ones(64, np.float16)], [np.zeros(64, np.float16)]
    assert said in kernels.fails("launch_error", body, *tensors, auto_sync=True)


FORMS = {  # what follows two tensors of floats: a form that there is, and others that there are not
    "Floor": ("int32_t", "LocalTensor<uint8_t>&", ""),
    "Ceil": ("int32_t", "LocalTensor<uint8_t>&", ""),
    "Round": ("int32_t", "LocalTensor<uint8_t>&", ""),
    "Silu": ("int32_t", "LocalTensor<uint8_t>&, uint32_t", ""),
    "Log10": ("int32_t", "LocalTensor<uint8_t>&", "LocalTensor<uint8_t>&, uint32_t"),
    "ReGlu": ("LocalTensor<float>&, uint32_t", "LocalTensor<float>&"),
    "Adds": ("float, int32_t", "double, int32_t", "half&, int32_t"),
    "Muls": ("float, int32_t", "int32_t, int32_t"),
}


def test_forms_that_the_public_headers_lack_do_not_compile(kernels: AscendCHarness) -> None:
    tensors = "LocalTensor<float>&, LocalTensor<float>&"
    lines = ["#include <utility>"]
    for name, forms in FORMS.items():
        lines += [
            "template <class... A>",
            f"auto has_{name}(int) -> decltype({name}(std::declval<A>()...), std::true_type());",
            f"template <class... A> std::false_type has_{name}(...);",
        ]
        for number, form in enumerate(forms):
            given = f"{tensors}, {form}".rstrip(", ")
            wanted = "true" if number == 0 else "false"
            lines.append(f"static_assert(decltype(has_{name}<{given}>(0))::value == {wanted});")
    kernels.compile("\n".join([*lines, f"{kernels.signature} {{}}"]))
