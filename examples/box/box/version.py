"""The version of this build.  `tools/pack.py` writes the real one into the artifact."""

VERSION = "0.0.0.dev"
