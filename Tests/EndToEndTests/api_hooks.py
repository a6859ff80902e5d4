"""Leaves out requests whose head is longer than the collector reads. It answers those with an empty 400."""

import schemathesis


@schemathesis.hook
def filter_case(context, case):
    return len(str(case.query).encode()) < 8000
