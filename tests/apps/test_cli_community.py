import json

import numpy as np
import pytest
from tests.apps.cli import invoke

from mixsearch.datasets import make_communities
from mixsearch.io.tables import read_table, write_table

DATA = make_communities(900, 3, mean_degree=20, signal=6, random_state=0)


def write_links(path, **columns):
    rows, targets = np.triu(DATA.adjacency.toarray()).nonzero()
    ends = {"who": [f"n{i}" for i in rows], "whom": [f"n{i}" for i in targets]}
    write_table(ends | {name: np.full(len(rows), value) for name, value in columns.items()}, path)
    return path


@pytest.fixture(scope="module")
def links(tmp_path_factory):
    return write_links(tmp_path_factory.mktemp("graphs") / "links.csv")


def known(community):
    return ",".join(f"n{node}" for node in DATA.known(community, 3))


def test_the_community_of_the_nodes_is_found(links):
    result = invoke("community", links, "--examples", known(1), "--not-examples", known(2), "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert (answer["n_links"], answer["n_components"], answer["method"]) == (DATA.adjacency.nnz // 2, 3, "block model")
    assert abs(answer["n_members"] - np.sum(DATA.labels == 1)) < 20
    assert len(answer["check"]["ranks"]) == 3
    assert all(DATA.labels[int(row["node"][1:])] == 1 for row in answer["typical_nodes"])


def test_memberships_are_written(links, tmp_path):
    out = tmp_path / "members.csv"
    result = invoke("community", links, "--examples", known(2), "-o", out)
    assert result.exit_code == 0, result.output
    written = read_table(out)
    nodes = np.array([int(name[1:]) for name in written["node"]])
    assert np.mean(written["is_member"].to_numpy() == (DATA.labels[nodes] == 2)) > 0.95
    title, sentence, _, *listed = result.stdout.splitlines()
    assert title == f"Community of {', '.join(known(2).split(','))}"
    assert "come back among the first" in sentence
    assert len(listed) == 10


def test_columns_and_weights_are_named(tmp_path):
    path = write_links(tmp_path / "links.parquet", day=1, n=2.5)
    columns = ["--source", "whom", "--target", "who", "--weight", "n"]
    result = invoke("community", path, *columns, "--examples", known(0), "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["n_components"] == 3


@pytest.mark.parametrize(("examples", "code"), [("n99999", "unknown_node"), (",", "no_nodes_named")])
def test_wrong_nodes_have_a_code(links, examples, code):
    result = invoke("community", links, "--examples", examples, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == code
