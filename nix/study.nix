# The targets' verdicts. A target is described and measured on clean, its mutants are judged in
# batches, and the batches are reported on: each a derivation with files that never vary.
{
  pkgs,
  own,
  environments,
  program,
}:
let
  inherit (pkgs) lib;
  targets = lib.importJSON ./targets.json; # a test holds it against the BUILD.bazel files
  batch = 100; # nix/measure.py's BATCH

  instrument = program "nix.measure" [
    ../harness
    ./measure.py
  ];
  step =
    name: arguments:
    pkgs.runCommand name { } ''
      export HOME=$TMPDIR
      ${own}/bin/python3 -I ${instrument} ${arguments} --out $out
      :
    '';

  measured =
    name: options:
    let
      folder = ../targets + "/${name}";
      pin = folder + "/target.toml";
      isFetched = builtins.pathExists pin;
      inputs = builtins.path {
        path = folder;
        name = "target";
        filter = path: _: builtins.match ".*[.](lock|json|bzl|bazel)" path == null;
      };
      archive = environments.sdist (lib.importTOML pin).sdist;
      expected = lib.importJSON (folder + "/expected.json");
      environment = environments.of (folder + "/requirements.lock") own;
      python = "--python ${environment}/bin/python3";

      described = step "${name}-described" (
        "describe --target ${inputs} --options ${pkgs.writeText "options.json" (builtins.toJSON options)}"
        + lib.optionalString isFetched " --archive ${archive}"
      );
      clean = step "${name}-clean" (
        "measure --described ${described} ${python} --mutants "
        + pkgs.writeText "mutants.json" (builtins.toJSON (lib.attrNames expected))
      );
      verdicts = number: step "${name}-verdicts" "judge --plans ${clean}/plans/${number} ${python}";
      batches = lib.genAttrs (lib.genList toString (
        (lib.length (lib.attrNames expected) + batch - 1) / batch
      )) verdicts;
    in
    {
      inherit described clean batches;
      report = step "${name}-report" (
        "report --described ${described} --measured ${clean} "
        + lib.concatMapStringsSep " " (one: "--verdicts ${one}") (lib.attrValues batches)
      );
      check = pkgs.runCommand "${name}-check" { } ''
        ${own}/bin/python3 -I ${instrument} check --described ${described} \
          --report ${all.${name}.report} --expected ${folder + "/expected.json"}
        touch $out
        :
      '';
    };
  all = lib.mapAttrs measured targets;
in
{
  targets = lib.mapAttrs (_: one: one.report // { inherit (one) described clean batches; }) all;

  # The published table beside ours, and whether ours still is the committed one.
  reproduce = pkgs.writeShellApplication {
    name = "hermutic-reproduce";
    text = ''
      exec ${own}/bin/python3 -I -B ${../targets/study.py} \
        --published ${../targets/published.json} --differences ${../targets/differences.toml} \
        ${
          lib.concatMapStringsSep " " (
            name:
            let
              tests = if targets.${name} ? own_tests then "narrow" else "wide";
            in
            "--report ${name} ${tests} ${all.${name}.report}/report.json "
            + "--expected ${name} ${../targets + "/${name}/expected.json"}"
          ) (lib.attrNames targets)
        }
    '';
  };

  checks = lib.mapAttrs' (name: one: lib.nameValuePair "study-${name}" one.check) all;
  study = pkgs.runCommand "hermutic-study" { } (
    "mkdir $out\n"
    + lib.concatMapStringsSep "\n" (name: "cp -r ${all.${name}.report} $out/${name}") (
      lib.attrNames targets
    )
  );
}
