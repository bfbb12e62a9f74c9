# Everything is installed under .venv/ and .tox/; `make clean` removes it again.

PYTHON = python3.7
PYTHON3 = python3.11
# Keras 2.2.4 is the release in which clone_model crashes; see tox.ini for the others.
KERAS = Keras==2.2.4
BIN = .venv/bin
# The models that `make fuzz` and `make fuzz-keras3` draw: how many, and their seed.
MODELS = 200
SEED = 1
# The environments of tox.ini that `make matrix` runs, separated by commas; if it is empty,
# those in `env_list`.
ENVIRONMENTS =
# The folder for screenshots by `make a11y`; if it is empty, there are none.
SCREENSHOTS =

# The tests for each major version of Keras.
KERAS2_TESTS = tests/keras2 tests/common tests/tools \
    tests/keras/test_sequential_model.py tests/keras/test_node_arguments.py
KERAS3_TESTS = tests/keras3 tests/common tests/keras/src/models
INSTALL = python -m pip install --quiet --no-compile
PYTEST = python -m pytest -n auto --maxprocesses 4 --durations 5
QUICK = -m 'not slow and not real_models'
SLOW = -m slow
# Models of other packages.
REAL2 = .venv/real-models-keras2
REAL3 = .venv/real-models-keras3
REAL_MODELS = -m real_models tests/common/test_real_models.py

.PHONY: demo test test-all test-keras2 test-keras3 real-models coverage lint docs a11y \
    table fuzz fuzz-keras3 matrix mutation mutation-keras2 mutation-keras3 workflows \
    benchmark clean

demo: .venv/installed .venv/keras3-installed
	@echo 'Keras 2.2.4, Python 3.7:'
	@$(BIN)/keras-clone check
	@echo
	@echo 'Keras 3.15.1, Python 3.11:'
	@.venv/keras3/bin/keras-clone check

test: lint test-keras2 test-keras3
	@echo 'The tests passed on Keras 2 and on Keras 3. make test-all runs the slow ones, too.'

test-keras2: .venv/installed
	$(BIN)/$(PYTEST) $(QUICK) $(KERAS2_TESTS)

test-keras3: .venv/keras3-installed
	.venv/keras3/bin/$(PYTEST) $(QUICK) $(KERAS3_TESTS)

# Includes installs into new environments and some models of other packages.
test-all: test $(REAL2)-installed $(REAL3)-installed
	$(BIN)/$(PYTEST) $(SLOW) $(KERAS2_TESTS)
	.venv/keras3/bin/$(PYTEST) $(SLOW) $(KERAS3_TESTS)
	$(REAL2)/bin/$(PYTEST) $(REAL_MODELS)
	$(REAL3)/bin/$(PYTEST) $(REAL_MODELS)
	@echo 'All tests passed on Keras 2 and on Keras 3.'

coverage: .venv/installed .venv/keras3-installed
	rm -f .coverage
	$(BIN)/$(PYTEST) -q $(QUICK) --cov --cov-config=setup.cfg $(KERAS2_TESTS)
	.venv/keras3/bin/$(PYTEST) -q $(QUICK) --cov --cov-config=setup.cfg --cov-append \
	    $(KERAS3_TESTS)

fuzz: .venv/installed
	$(BIN)/python -m evidence random-models run --models $(MODELS) --seed $(SEED)

fuzz-keras3: .venv/keras3-installed
	.venv/keras3/bin/python -m evidence random-models run --models $(MODELS) --seed $(SEED)

# All models of other packages: this takes hours.
real-models: $(REAL2)-installed $(REAL3)-installed
	$(REAL2)/bin/python -m evidence real-models run
	$(REAL3)/bin/python -m evidence real-models run

# On an otherwise idle machine.
benchmark: .venv/costs-installed
	$(BIN)/python -m evidence costs record
	.venv/keras3/bin/python -m evidence costs record

# The old flake8 of Python 3.7, and a current one: each finds what the other does not. What
# is installed has to run on Python 3.6.
lint: .venv/installed .venv/keras3-installed
	$(BIN)/flake8
	.venv/keras3/bin/flake8
	.venv/keras3/bin/vermin -q -t=3.6- --no-tips --violations \
	    setup.py keras_clone_start.py keras_clone keras

docs: .venv/docs-installed .venv/keras3-installed
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python docs/check_search.py docs/_build/html
	@# As root, LinkChecker switches to `nobody`, who may be unable to read the checkout.
	copy=$$(mktemp -d) && chmod a+rx $$copy && cp -r docs/_build/html/. $$copy && \
	    $(BIN)/linkchecker --no-status --no-warnings $$copy/index.html; \
	    status=$$?; rm -r $$copy; exit $$status
	PYTHONPATH=docs $(BIN)/python -m pytest -q -p code_blocks README.md CONTRIBUTING.md docs
	PYTHONPATH=docs .venv/keras3/bin/python -m pytest -q -p code_blocks docs
	@echo 'The pages are in docs/_build/html: open index.html.'

a11y: .venv/docs-installed .venv/a11y-installed
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build/html
	NODE_PATH=.venv/a11y/node_modules node docs/a11y.js docs/_build/html $(SCREENSHOTS)
	NODE_PATH=.venv/a11y/node_modules node docs/search.js docs/_build/html

table: .venv/tox-installed .venv/keras3-installed
	for release in 224 225 230 231; do \
	    .venv/tox/bin/tox run -e py37-keras$$release-tensorflow-table || exit; done
	.venv/keras3/bin/python -m evidence table record

matrix: .venv/tox-installed
	rm -rf .tox/results
	.venv/tox/bin/tox run-parallel $(addprefix -e ,$(ENVIRONMENTS)) --parallel 2 \
	    --parallel-no-spinner; \
	    status=$$?; .venv/tox/bin/python -m evidence matrix table; exit $$status

mutation: mutation-keras2 mutation-keras3

mutation-keras2 mutation-keras3: mutation-%: .venv/installed .venv/keras3-installed \
    .venv/mutation-installed
	git diff --quiet HEAD -- keras keras_clone || \
	    { echo 'Commit or stash the changes first.'; exit 1; }
	rm -f .venv/$@.sqlite
	.venv/mutation/bin/cosmic-ray init tests/tools/$@.toml .venv/$@.sqlite
	.venv/mutation/bin/cr-filter-operators .venv/$@.sqlite tests/tools/mutation-keras2.toml
	.venv/mutation/bin/cosmic-ray baseline tests/tools/$@.toml
	.venv/mutation/bin/cosmic-ray exec tests/tools/$@.toml .venv/$@.sqlite
	.venv/mutation/bin/cr-report --surviving-only --show-diff .venv/$@.sqlite

workflows: .venv/tox-installed
	.venv/tox/bin/tox run -e workflows

clean:
	rm -rf .venv .tox docs/_build build *.egg-info .coverage .pytest_cache

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade 'pip<24.1' 'setuptools<69' wheel

.venv/installed: setup.py $(wildcard requirements/*.txt) | .venv/bin/python
	@echo 'Installing Keras, TensorFlow and the test tools into .venv: this takes some minutes.'
	$(BIN)/$(INSTALL) '$(KERAS)' -e . -r requirements/tests.txt \
	    -r requirements/tensorflow1.txt
	touch $@

.venv/docs-installed: .venv/installed
	$(BIN)/$(INSTALL) -r requirements/docs.txt
	touch $@

.venv/keras3-installed: setup.py $(wildcard requirements/*.txt)
	@echo 'Installing Keras 3 and TensorFlow into .venv/keras3: this takes some minutes.'
	$(PYTHON3) -m venv .venv/keras3
	.venv/keras3/bin/$(INSTALL) 'keras==3.15.1' -e . -r requirements/tests.txt \
	    -r requirements/keras3.txt
	touch $@

# Without keras-clone: the command imports it from the checkout that it is told.
$(REAL2)-installed: $(wildcard requirements/*.txt)
	@echo 'Installing Keras 2 and the packages with models into $(REAL2).'
	$(PYTHON) -m venv $(REAL2)
	$(REAL2)/bin/python -m pip install --quiet --upgrade 'pip<24.1' 'setuptools<69' wheel
	$(REAL2)/bin/$(INSTALL) '$(KERAS)' -r requirements/tests.txt \
	    -r requirements/tensorflow1.txt
	$(REAL2)/bin/$(INSTALL) --no-deps -r requirements/real-models-keras2.txt
	touch $@

$(REAL3)-installed: $(wildcard requirements/*.txt)
	@echo 'Installing Keras 3 and the packages with models into $(REAL3).'
	$(PYTHON3) -m venv $(REAL3)
	$(REAL3)/bin/$(INSTALL) 'keras==3.15.1' -r requirements/tests.txt \
	    -r requirements/keras3.txt
	$(REAL3)/bin/$(INSTALL) --no-deps -r requirements/real-models-keras3.txt
	touch $@

.venv/costs-installed: .venv/installed .venv/keras3-installed
	$(BIN)/$(INSTALL) -r requirements/costs.txt
	.venv/keras3/bin/$(INSTALL) -r requirements/costs.txt
	touch $@

.venv/tox-installed: requirements/tox.txt
	$(PYTHON3) -m venv .venv/tox
	.venv/tox/bin/$(INSTALL) -r requirements/tox.txt
	touch $@

.venv/a11y-installed:
	npm install --silent --prefix .venv/a11y axe-core@4.14.1 puppeteer-core@24
	touch $@

.venv/mutation-installed: requirements/mutation.txt
	$(PYTHON3) -m venv .venv/mutation
	.venv/mutation/bin/$(INSTALL) -r requirements/mutation.txt
	touch $@
