"""The paper's figures and tables: each is a set of cases, tidy rows of results, and a figure drawn from the rows."""
