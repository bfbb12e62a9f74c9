# Everything is installed under .venv/ and .tox/; `make clean` removes it again.

PYTHON = python3.7
PYTHON3 = python3.11
# Keras 2.2.4 is the release in which clone_model crashes; see tox.ini for the others.
KERAS = Keras==2.2.4
BIN = .venv/bin
# What `make fuzz` and `make fuzz-keras3` draw.
MODELS = 200
SEED = 1
# Where `make a11y` puts pictures of the pages; nowhere if it is empty.
SCREENSHOTS =

.PHONY: demo test test-keras2 test-keras3 coverage lint docs a11y table fuzz fuzz-keras3 \
    matrix mutation workflows benchmark clean

demo: .venv/installed .venv/keras3-installed
	@echo 'Keras 2.2.4, Python 3.7:'
	@$(BIN)/keras-clone check
	@echo
	@echo 'Keras 3.15.1, Python 3.11:'
	@.venv/keras3/bin/keras-clone check

test: lint test-keras2 test-keras3
	@echo 'The tests passed on Keras 2 and on Keras 3.'

test-keras2: .venv/installed
	$(BIN)/python -m pytest -n 2

test-keras3: .venv/keras3-installed
	.venv/keras3/bin/python -m pytest -n 2 tests/keras3 tests/keras/src/models tests/test_overlay.py \
	    tests/test_random_models.py

coverage: .venv/installed
	$(BIN)/python -m pytest -m 'not real_models' --cov --cov-config=setup.cfg

fuzz: .venv/installed
	$(BIN)/python -m evidence random-models run --models $(MODELS) --seed $(SEED)

fuzz-keras3: .venv/keras3-installed
	.venv/keras3/bin/python -m evidence random-models run --models $(MODELS) --seed $(SEED)

# On an otherwise idle machine.
benchmark: .venv/benchmarks-installed
	$(BIN)/python -m evidence costs record
	.venv/keras3/bin/python -m evidence costs record

lint: .venv/installed
	$(BIN)/flake8

docs: .venv/docs-installed .venv/keras3-installed
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/linkchecker --no-status --no-warnings docs/_build/html/index.html
	PYTHONPATH=docs $(BIN)/python -m pytest -q -p code_blocks README.md CONTRIBUTING.md docs
	PYTHONPATH=docs .venv/keras3/bin/python -m pytest -q -p code_blocks docs
	@echo 'The pages are in docs/_build/html: open index.html.'

a11y: .venv/docs-installed .venv/a11y-installed
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build/html
	NODE_PATH=.venv/a11y/node_modules node docs/a11y.js docs/_build/html $(SCREENSHOTS)

table: .venv/tox-installed .venv/keras3-installed
	for release in 224 225 230 231; do \
	    .venv/tox/bin/tox run -e py37-keras$$release-tensorflow-table || exit; done
	.venv/keras3/bin/python -m evidence table record

matrix: .venv/tox-installed
	rm -rf .tox/results
	.venv/tox/bin/tox run-parallel --parallel 2 --parallel-no-spinner; \
	    status=$$?; .venv/tox/bin/python -m evidence matrix table; exit $$status

mutation: .venv/installed .venv/mutation-installed
	git diff --quiet HEAD -- keras keras_clone
	rm -f .venv/mutation.sqlite
	.venv/mutation/bin/cosmic-ray init tests/mutation.toml .venv/mutation.sqlite
	.venv/mutation/bin/cr-filter-operators .venv/mutation.sqlite tests/mutation.toml
	.venv/mutation/bin/cosmic-ray baseline tests/mutation.toml
	.venv/mutation/bin/cosmic-ray exec tests/mutation.toml .venv/mutation.sqlite
	.venv/mutation/bin/cr-report --surviving-only --show-diff .venv/mutation.sqlite

workflows: .venv/tox-installed
	.venv/tox/bin/tox run -e workflows

clean:
	rm -rf .venv .tox docs/_build build *.egg-info .coverage .pytest_cache

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade 'pip<24.1' 'setuptools<69' wheel

.venv/installed: setup.py | .venv/bin/python
	@echo 'Installing Keras, TensorFlow and the test tools into .venv: some minutes.'
	$(BIN)/python -m pip install --quiet --no-compile '$(KERAS)' -e '.[tests]'
	touch $@

.venv/docs-installed: setup.py | .venv/installed
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	touch $@

.venv/keras3-installed: setup.py
	@echo 'Installing Keras 3 and TensorFlow into .venv/keras3: some minutes.'
	$(PYTHON3) -m venv .venv/keras3
	.venv/keras3/bin/python -m pip install --quiet --no-compile 'keras==3.15.1' -e '.[tests]'
	touch $@

.venv/benchmarks-installed: setup.py | .venv/installed .venv/keras3-installed
	$(BIN)/python -m pip install --quiet -e '.[benchmarks]'
	.venv/keras3/bin/python -m pip install --quiet -e '.[benchmarks]'
	touch $@

.venv/tox-installed:
	$(PYTHON3) -m venv .venv/tox
	.venv/tox/bin/python -m pip install --quiet 'tox<4.6' 'virtualenv<20.22' click rich
	touch $@

.venv/a11y-installed:
	npm install --silent --prefix .venv/a11y axe-core@4.14.1 puppeteer-core@24
	touch $@

.venv/mutation-installed:
	$(PYTHON3) -m venv .venv/mutation
	.venv/mutation/bin/python -m pip install --quiet 'cosmic-ray==8.7.0'
	touch $@
