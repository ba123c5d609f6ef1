# The packages that the flake uses, over the tools in /usr of the machine that builds.
{ lib, system }:
let
  files = lib.importJSON ../files.json;

  build =
    name: more: script:
    derivation (
      {
        inherit name system script;
        builder = "/usr/bin/bash";
        # Bash puts its last command in its own place, and Nix may take closed output for the end.
        args = [
          "-euc"
          ''
            eval "$script"
            :
          ''
        ];
        PATH = "/usr/bin";
      }
      // more
    );
  runCommand =
    name: inputs: script:
    build name (
      removeAttrs inputs [ "nativeBuildInputs" ]
      // {
        PATH = lib.concatMapStringsSep ":" (one: "${one}/bin") (
          (inputs.nativeBuildInputs or [ ]) ++ [ "/usr" ]
        );
      }
    ) script;
  linkFarm =
    name: entries:
    build name { } (
      "mkdir $out\n" + lib.concatMapStringsSep "\n" ({ name, path }: "ln -s ${path} $out/${name}") entries
    );
  # The same derivation output as nixpkgs', and so the same place in the store. There is no network
  # to fetch from: nix/host/prefetch.py has put the file there.
  fixed =
    name: sha256:
    derivation {
      inherit name system;
      builder = "/usr/bin/bash";
      args = [
        "-c"
        "echo 'could not find ${name} in the store: run .ci/nix, which puts it there' >&2; exit 1"
      ];
      outputHash = sha256;
      outputHashAlgo = "sha256";
      outputHashMode = "flat";
    };
  fetchPypi =
    {
      pname,
      version,
      sha256,
      format ? "setuptools",
      python ? "py2.py3",
      abi ? "none",
      platform ? "any",
      ...
    }:
    fixed (
      if format == "wheel" then
        "${pname}-${version}-${python}-${abi}-${platform}.whl"
      else
        "${pname}-${version}.tar.gz"
    ) sha256;

  # The machine's, at the version of the root that .ci/toolroot builds.
  python3 = {
    outPath = "/usr";
    pythonVersion = "3.14";
  };
in
{
  inherit
    lib
    runCommand
    linkFarm
    fetchPypi
    python3
    ;
  stdenv.hostPlatform = {
    inherit system;
  };

  writeText =
    name: text:
    build name {
      inherit text;
      passAsFile = [ "text" ];
    } "cp $textPath $out";

  writeShellApplication =
    { name, text }:
    build name
      {
        text = ''
          #!/usr/bin/bash
          set -euo pipefail
          ${text}
        '';
        passAsFile = [ "text" ];
      }
      ''
        mkdir -p $out/bin
        cp $textPath $out/bin/${name}
        chmod +x $out/bin/${name}
      '';

  bazel_7.outPath = "/usr";

  # Debian has no package of it: the developers' lock has.
  ruff =
    let
      isRuff = pin: _: builtins.match "ruff==.*" pin != null;
      pin = builtins.head (lib.attrValues (lib.filterAttrs isRuff files.wheels));
      wheel = pin."${python3.pythonVersion} ${system}";
    in
    runCommand "ruff" { } ''
      python3 -I -m zipfile -e ${fixed wheel.name wheel.sha256} .
      mkdir -p $out/bin
      cp ruff-*.data/scripts/ruff $out/bin
      chmod +x $out/bin/ruff
    '';

  mkShell =
    { packages, ... }@shell:
    build "shell" (
      removeAttrs shell [ "packages" ]
      // {
        outputs = [ "out" ]; # nix develop writes the environment there
        PATH = lib.concatMapStringsSep ":" (one: "${one}/bin") packages + ":/usr/bin";
      }
    ) "mkdir $out";
}
