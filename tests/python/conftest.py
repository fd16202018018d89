# SPDX-License-Identifier: MIT
import contextlib

pytest_plugins = ["pytester"]

# pytester runs tests in this process, and forgets what they import; PyTorch can be imported only once.
with contextlib.suppress(ImportError):
    import torch.nn.attention.flex_attention
