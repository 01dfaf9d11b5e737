import numpy as np
import pytest

from ci.host.tiling_request import host_request, platform_facts
from ci.model.errors import InputError
from ci.model.launch import Tensors
from ci.model.workload import TensorCase, WorkloadCase
from ci.source.discovery import load_operator
from rules.devices import load_device
from tests.places import OPERATORS


def test_requests_escape_text_attributes() -> None:
    operator = load_operator(OPERATORS / "src" / "math" / "bias_add")
    case = WorkloadCase(
        name="c",
        inputs=tuple(TensorCase(shape=(8,), dtype=i.dtypes[0]) for i in operator.inputs),
        attrs={"word": "a\tb\nfact\tcores.aiv\t999"},
    )
    facts = platform_facts(load_device("910B4"))
    lines = host_request(operator, case, facts).text.splitlines()
    assert "attr\tword\tstring\ta\\tb\\nfact\\tcores.aiv\\t999" in lines


def test_a_chip_states_its_own_cores_and_rates_and_the_memories_of_the_architecture() -> None:
    facts = platform_facts(load_device("910B4"))
    assert (facts["cores.aic"], facts["cores.aiv"], facts["cores.default"]) == ("20", "40", "40")
    assert facts["memory.ub"] == str(192 * 1024)
    assert facts["bandwidth.hbm_bytes_per_cycle"] == str(round(0.8e12 / 1650e6 / 20))


def test_only_values_that_the_host_side_reads_are_sent() -> None:
    operator = load_operator(OPERATORS / "src" / "math" / "bias_add")
    case = WorkloadCase(
        name="c",
        inputs=tuple(TensorCase(shape=(4,), dtype=i.dtypes[0]) for i in operator.inputs),
    )
    facts = platform_facts(load_device("910B4"))
    values: Tensors = [np.full(4, 1.5, np.float32) for _ in operator.inputs]
    name = operator.inputs[0].name
    read = host_request(operator, case, facts, values, read=[name])
    assert [bool(t.data) for (t,) in read.inputs] == [i.name == name for i in operator.inputs]
    assert not any(t.data for (t,) in host_request(operator, case, facts, values).inputs)


@pytest.mark.parametrize(("rows", "fits"), [(4, True), (8, True), (9, False)])
def test_an_output_that_has_an_inputs_memory_is_no_larger_than_that(rows: int, fits: bool) -> None:
    operator = load_operator(OPERATORS / "src" / "math" / "bias_add")
    (only,) = operator.outputs
    name = operator.inputs[0].name
    operator = operator.model_copy(update={"outputs": (only.model_copy(update={"name": name}),)})
    case = WorkloadCase(
        name="c",
        inputs=tuple(TensorCase(shape=(8, 16), dtype="float32") for _ in operator.inputs),
        outputs=(TensorCase(shape=(rows, 16), dtype="float32"),),
    )
    facts = platform_facts(load_device("910B4"))
    if fits:
        assert host_request(operator, case, facts).outputs
    else:
        with pytest.raises(InputError, match=rf"'{name}' has the memory of .* \[9, 16\] does not"):
            host_request(operator, case, facts)
