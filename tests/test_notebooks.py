"""The notebooks have one form: a question, short steps, an answer with numbers, and how to have it from more games.

Nothing is executed here: ``.ci/run`` does that.
"""

import ast
import json
import re
import sys
import tomllib
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import velonimo_sim
from velonimo_sim import analysis

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NAMES = ["1-tour", "2-seats-and-strategies", "3-tortoise", "4-jersey", "5-cards", "6-advice", "7-duel", "8-velocity"]

RUNS = re.compile(r'^RUNS = Path\("\.\./experiments/(\d{3}-[\w-]+)/out/small"\)$', re.MULTILINE)
ABSOLUTE_PATH = re.compile(r"(?<![\w./])/(?:home|mnt|opt|private|root|tmp|Users|usr|var|work)/|\b[A-Z]:\\\\")
SENTENCE_END = re.compile(r"[.!?](?=\s|$)")

THAT_PLAY = {"run_tournament"}
THAT_READ_RECORDS = {"velonimo_sim.game_records", "velonimo_sim.velonimo.draw", "velonimo_sim.velonimo.frames"}
FOREIGN = {"IPython", "matplotlib", "numpy", "pandas", "scipy"}
OTHER_READERS = {"open", "read_bytes", "read_csv", "read_json", "read_pickle", "read_text", "urlopen", "loadtxt"}

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@cache
def notebook_at(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def source_of(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in notebook_at(path)["cells"] if cell["cell_type"] == "code"]


def texts_of_outputs(cell: dict[str, Any]) -> list[str]:
    """Return all that a cell put out, but for pictures."""
    texts = []
    for output in cell.get("outputs", []):
        texts += ["".join(output["text"])] if "text" in output else []
        texts += ["".join(text) for kind, text in output.get("data", {}).items() if kind.startswith("text/")]
    return texts


def sections_of(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the cells of each section by its heading, in their order."""
    sections: dict[str, list[dict[str, Any]]] = {"": []}
    for cell in notebook_at(path)["cells"]:
        heading = re.match(r"## (.+)", source_of(cell)) if cell["cell_type"] == "markdown" else None
        if heading:
            sections[heading[1]] = []
        sections[list(sections)[-1]].append(cell)
    return sections


def experiments_of(path: Path) -> list[str]:
    return RUNS.findall(source_of(code_cells(path)[0]))


def test_the_notebooks_are_these_eight() -> None:
    assert [path.stem for path in NOTEBOOKS] == NAMES


@every_notebook
def test_it_begins_with_its_title_and_the_question(path: Path) -> None:
    first = notebook_at(path)["cells"][0]
    title, _, rest = source_of(first).partition("\n")
    assert first["cell_type"] == "markdown"
    assert title.startswith("# ")
    assert "?" in rest
    assert len(SENTENCE_END.findall(rest)) <= 2


@every_notebook
def test_every_code_cell_is_short_and_follows_words_that_say_what_it_shows(path: Path) -> None:
    cells = notebook_at(path)["cells"]
    for before, cell in pairwise(cells):
        if cell["cell_type"] == "code":
            assert before["cell_type"] == "markdown", source_of(cell)
            assert source_of(cell).count("\n") < 40, source_of(cell)


@every_notebook
def test_the_answer_is_two_sentences_with_numbers_from_the_tables(path: Path) -> None:
    sections = sections_of(path)
    assert list(sections)[-2:] == ["Answer", "With more games"]
    (cell,) = (cell for cell in sections["Answer"] if cell["cell_type"] == "code")
    last = ast.parse(source_of(cell)).body[-1]
    assert isinstance(last, ast.Expr)
    assert isinstance(last.value, ast.Call)
    assert isinstance(last.value.func, ast.Name)
    assert last.value.func.id == "Markdown"
    assert any(isinstance(part, ast.FormattedValue) for part in ast.walk(last)), "the numbers are computed"
    (answer,) = ("".join(output["data"]["text/markdown"]) for output in cell["outputs"])
    sentences = [sentence for sentence in SENTENCE_END.split(answer) if sentence.strip()]
    assert len(sentences) == 2, answer
    assert all(re.search(r"\d", sentence) for sentence in sentences), answer


@every_notebook
def test_it_says_how_to_repeat_it_with_more_games(path: Path) -> None:
    experiments = experiments_of(path)
    assert experiments, "the first code cell says where the runs are"
    told = "".join(source_of(cell) for cell in sections_of(path)["With more games"])
    assert "RUNS" in told
    for name in experiments:
        assert f"python experiments/{name}/run.py --size full" in told
        scale = tomllib.loads((ROOT / "experiments" / name / "config.toml").read_text(encoding="utf-8"))["scale"]
        assert set(scale) == {"small", "full"}
        assert (ROOT / "experiments" / name / "run.py").is_file()


@every_notebook
def test_all_of_it_was_run_from_top_to_bottom_and_nothing_went_wrong(path: Path) -> None:
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        for output in cell["outputs"]:
            assert output["output_type"] != "error", output
            assert output.get("name") != "stderr", output


@every_notebook
def test_what_cells_show_is_kept(path: Path) -> None:
    for cell in code_cells(path):
        source = source_of(cell)
        if isinstance(ast.parse(source).body[-1], ast.Expr) and not source.rstrip().endswith(";"):
            assert cell["outputs"], source
        if "plt.subplots" in source:
            assert any("image/png" in output.get("data", {}) for output in cell["outputs"]), source


@every_notebook
def test_it_names_no_path_of_a_machine(path: Path) -> None:
    for cell in notebook_at(path)["cells"]:
        for text in [source_of(cell), *texts_of_outputs(cell)]:
            assert not ABSOLUTE_PATH.search(text), text


@every_notebook
def test_what_differs_from_machine_to_machine_is_left_out(path: Path) -> None:
    metadata = notebook_at(path)["metadata"]
    assert metadata["kernelspec"] == {"name": "python3", "display_name": "Python 3", "language": "python"}
    assert "version" not in metadata.get("language_info", {})
    assert all("execution" not in cell["metadata"] for cell in notebook_at(path)["cells"])
    assert path.stat().st_size < 2_000_000


@every_notebook
def test_it_uses_public_names_alone_and_none_that_plays(path: Path) -> None:
    for cell in code_cells(path):
        for node in ast.walk(ast.parse(source_of(cell))):
            if isinstance(node, ast.Import):
                for name in node.names:
                    check_import(name.name, set())
            elif isinstance(node, ast.ImportFrom):
                assert node.module is not None
                check_import(node.module, {name.name for name in node.names})


def check_import(module: str, names: set[str]) -> None:
    """Fail unless a notebook may import these names from this module."""
    package = module.partition(".")[0]
    if module == "velonimo_sim":
        assert names <= {*velonimo_sim.__all__, "analysis"} - THAT_PLAY
    elif module == "velonimo_sim.analysis":
        assert names <= {*analysis.__all__}
    elif package == "velonimo_sim":
        assert module in THAT_READ_RECORDS | {"velonimo_sim.analysis.figures"}
    else:
        assert package in FOREIGN | sys.stdlib_module_names


@every_notebook
def test_it_reads_nothing_but_runs_and_records(path: Path) -> None:
    for cell in code_cells(path):
        tree = ast.walk(ast.parse(source_of(cell)))
        called = {node.func for node in tree if isinstance(node, ast.Call)}
        names = {call.id for call in called if isinstance(call, ast.Name)}
        names |= {call.attr for call in called if isinstance(call, ast.Attribute)}
        assert not names & OTHER_READERS, source_of(cell)
