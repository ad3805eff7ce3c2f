import subprocess
import sys


def test_the_records_are_loaded_at_their_first_use() -> None:
    program = """
import sys, pms_client
assert "pms_client.models" not in sys.modules
assert pms_client.models.Execution is sys.modules["pms_client.models"].Execution
assert pms_client.webhooks.verify
try:
    pms_client.no_such_name
except AttributeError as error:
    assert "no_such_name" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", program], check=True)
