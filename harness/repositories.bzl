"""What a WORKSPACE file loads: the repositories that Hermutic needs, and rules for a user's own."""

load("//harness/private:environment.bzl", _pip_environment = "pip_environment")
load("//harness/private:sdist.bzl", _pip_sdist = "pip_sdist")

pip_sdist = _pip_sdist

def pip_environment(name, lock, **attributes):
    """A virtual environment of hash-locked wheels, for `deps` of `mutation_test`.

    Args:
      name: the repository's name: the environment is @NAME//:files.
      lock: a requirements file with every wheel pinned by hash.
      **attributes: interpreter, see private/environment.bzl.
    """
    _pip_environment(
        name = name,
        lock = lock,
        twin = "@hermutic_environment//:env/pyvenv.cfg",
        **attributes
    )

def hermutic_repositories(interpreter = "python3"):
    """Declare what the instrument itself runs on. rules_python has to be declared before.

    Args:
      interpreter: the Python that the instrument runs under; targets choose their own.
    """
    if not native.existing_rule("hermutic_environment"):
        _pip_environment(
            name = "hermutic_environment",
            interpreter = interpreter,
            lock = "@hermutic//:requirements.lock",
        )
