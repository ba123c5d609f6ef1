# The packages, checks and shell of flake.nix, for one system's package set.
{ pkgs }:
let
  inherit (pkgs) lib;
  root = ../.;
  # An edit of anything that is not named here rebuilds nothing.
  only =
    files:
    lib.fileset.toSource {
      inherit root;
      fileset = lib.fileset.unions files;
    };

  environments = import ./environments.nix {
    inherit pkgs;
    tool = only [
      ../harness/__init__.py
      ../harness/errors.py
      ../harness/packages.py
      ../harness/run.py
      ../harness/private/environment.py
    ];
  };

  # The command's own environment, and the developer's; each target has its own beside them.
  own = environments.of ../requirements.lock null;
  development = environments.of ../requirements-dev.lock own;

  # Modules as a folder that Python runs, compiled as for Bazel: it starts in a tenth of a second.
  program =
    main: files:
    pkgs.runCommand "hermutic-${main}" { } ''
      cd ${only files}
      set --
      for file in $(find . -name "*.py" -not -path "./harness/private/*" | sort); do
        set -- "$@" "$file" "''${file#./}"
      done
      ${own}/bin/python3 -I -B ${../harness/private/tree.py} $out ${main} "$@"
    '';

  command = pkgs.writeShellApplication {
    name = "hermutic";
    text = ''
      exec ${own}/bin/python3 -I ${
        program "gate.__main__" [
          ../gate
          ../harness
        ]
      } "$@"
    '';
  };

  study = import ./study.nix {
    inherit
      pkgs
      own
      environments
      program
      ;
  };

  # A check is a derivation that is built for nothing but its success.
  check =
    name: inputs: script:
    pkgs.runCommand name inputs ''
      ${script}
      touch $out
      :
    '';
in
{
  inherit command;
  inherit (study) study targets reproduce;

  checks = study.checks // {
    formatting = check "hermutic-formatting" { nativeBuildInputs = [ pkgs.ruff ]; } ''
      cd ${
        only [
          ../gate
          ../harness
          ../nix
          ../targets
          ../tests
          ../pyproject.toml
        ]
      }
      ruff format --no-cache --check .
      ruff check --no-cache .
    '';
    # Those that decide, find and read: what takes no sealed run. `hermutic selftest` has all.
    tests = check "hermutic-tests" { } ''
      cp -r ${
        only [
          ../.ci
          ../gate
          ../harness
          ../nix
          ../targets
          ../tests
          ../flake.nix
          ../pyproject.toml
          ../requirements.lock
          ../requirements-dev.lock
        ]
      } source
      chmod -R u+w source
      cd source
      export HOME=$TMPDIR
      ${development}/bin/python3 -I -m pytest -q -n 2 -p no:cacheprovider \
        tests/test_study.py tests/nix tests/harness/operators \
        tests/harness/test_{audit,controls,events,evidence,log,plan,progress}.py \
        tests/harness/test_{reach,report,store,verdict}.py \
        tests/harness/test_find{,_ids,_source,_suppressed}.py \
        tests/gate/test_{admit,arms,extract,literal,prompt,scoring,setting,written_file}.py
    '';
  };

  shell = pkgs.mkShell {
    packages = [
      command
      development
      pkgs.bazel_7
      pkgs.ruff
    ];
    # Nothing is fetched in silence: what a tool needs is here, or the tool says what is missing.
    PIP_NO_INDEX = "1";
    UV_OFFLINE = "1";
    UV_PYTHON_DOWNLOADS = "never";
  };
}
