"""Tests of the box service; plain unittest, so that they run anywhere."""
