import json

import numpy as np
import pytest
from tests.apps.cli_corpus import invoke

from mixsearch.datasets import make_communities
from mixsearch.table import read_table, write_table
from mixsearch.table.tables import get_values

DATA = make_communities(900, 3, mean_degree=20, signal=6, random_state=0)


def write_links(path, data=DATA, **columns):
    rows, targets = np.triu(data.adjacency.toarray()).nonzero()
    ends = {"who": [f"n{i}" for i in rows], "whom": [f"n{i}" for i in targets]}
    write_table(ends | {name: np.full(len(rows), value) for name, value in columns.items()}, path)
    return path


@pytest.fixture(scope="module")
def links(tmp_path_factory):
    return write_links(tmp_path_factory.mktemp("graphs") / "links.csv")


def known(community, data=DATA):
    return ",".join(f"n{node}" for node in data.known(community, 3))


def test_the_community_of_the_nodes_is_found(links):
    result = invoke("community", links, "--like", known(1), "-k", "3", "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert (answer["n_links"], answer["n_components"], answer["detectable"]) == (DATA.adjacency.nnz // 2, 3, True)
    assert answer["n_members"]["low"] - 5 < np.sum(DATA.labels == 1) < answer["n_members"]["high"] + 5
    assert answer["verdict"] == "clear"
    assert all(DATA.labels[int(row["node"][1:])] == 1 for row in answer["typical_nodes"])


def test_memberships_are_written(links, tmp_path):
    out = tmp_path / "members.csv"
    result = invoke("community", links, "--like", known(2), "-o", out, "--n-nodes", "2")
    assert result.exit_code == 0, result.output
    written = read_table(out)
    nodes = np.array([int(name[1:]) for name in get_values(written, "node")])
    assert np.mean(np.array(get_values(written, "is_member")) == (DATA.labels[nodes] == 2)) > 0.95
    assert sum(line.startswith("node") for line in result.stdout.splitlines()) == 2


def test_columns_and_weights_are_named(tmp_path):
    path = write_links(tmp_path / "links.parquet", day=1, n=2.5)
    result = invoke(
        "community", path, "--source", "whom", "--target", "who", "--weight", "n", "--like", known(0), "--json"
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["confidence"] > 0.9


@pytest.mark.parametrize(("like", "code"), [("n99999", "unknown_node"), (",", "no_nodes_named")])
def test_wrong_nodes_have_a_code(links, like, code):
    result = invoke("community", links, "--like", like, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == code


def test_nodes_of_two_communities_are_named_and_no_members_are_listed(links):
    mixed = f"{known(0)},{known(1)}"
    result = invoke("community", links, "--like", mixed)
    assert result.exit_code == 0, result.output
    assert "not listed: this is hardly the community meant" in result.stdout
    assert not any(line.startswith("node ") for line in result.stdout.splitlines())
    answer = json.loads(invoke("community", links, "--like", mixed, "--json").stdout)
    assert answer["confidence"] < 0.05
    assert len(answer["typical_nodes"]) == 10
    assert set(answer["warnings"][0]["fields"]["names"]) <= set(mixed.split(","))
