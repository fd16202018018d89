# SPDX-License-Identifier: MIT
pytest_plugins = ["pytester"]
