"""What every test runs under."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from hypothesis import settings

# How long one example takes says more about the machine's other work than about the code; speed has its benchmarks.
settings.register_profile("default", deadline=None, derandomize=True)
settings.load_profile("default")
