"""The repositories of the twelve libraries: each one's pinned source, and an environment of its own."""

load("//harness:repositories.bzl", "pip_environment", "pip_sdist")

# Where in each source distribution the library is, and where its tests are.
_TARGETS = {
    "aiofiles": (["src/**"], ["tests/**"]),
    "boltons": (["boltons/**"], ["tests/**"]),
    "cachetools": (["src/**"], ["tests/**"]),
    "dictdiffer": (["dictdiffer/**"], ["tests/**"]),
    "dotenv": (["src/**"], ["tests/**"]),
    "natsort": (["natsort/**"], ["tests/**"]),
    "shortuuid": (["shortuuid/**"], ["shortuuid/test_*.py"]),
    "slugify": (["slugify/**"], ["tests/**"]),
    "tenacity": (["tenacity/**"], ["tests/**"]),
    "toolz": (["tlz/**", "toolz/**"], ["toolz/**/tests/**"]),
    "validators": (["src/**"], ["tests/**"]),
    "voluptuous": (["voluptuous/**"], ["voluptuous/tests/**"]),
}

def target_repositories():
    """Declare @NAME and @NAME_environment for each of the twelve libraries.

    One shared environment does not do: a plugin that one suite needs makes another one fail.
    """
    for name, (srcs, tests) in _TARGETS.items():
        pip_environment(
            name = name + "_environment",
            lock = "//targets/%s:requirements.lock" % name,
        )
        pip_sdist(
            name = name,
            # All the rest: pytest's configuration is there, and what tests read.
            data = ["**"],
            srcs = srcs,
            target = "//targets/%s:target.toml" % name,
            tests = tests,
        )
