# Virtual environments from the locks that the local command and Bazel use, by the same digests.
{ pkgs, tool }:
let
  inherit (pkgs) lib python3;
  files = lib.importJSON ./files.json;
  here = "${python3.pythonVersion} ${pkgs.stdenv.hostPlatform.system}";

  # The pins of a lock: what stands at the beginning of its lines.
  pins =
    lock:
    lib.concatMap (
      line:
      let
        found = builtins.match "([A-Za-z0-9._-]+==[^ ;]+).*" line;
      in
      if found == null then [ ] else found
    ) (lib.splitString "\n" (builtins.readFile lock));

  # nixpkgs makes a file's address from the parts of its name.
  wheel =
    { name, sha256 }:
    let
      part = lib.elemAt (lib.splitString "-" (lib.removeSuffix ".whl" name));
    in
    pkgs.fetchPypi {
      inherit sha256;
      format = "wheel";
      pname = part 0;
      version = part 1;
      dist = part 2;
      python = part 2;
      abi = part 3;
      platform = part 4;
    };

  # What a pin is here; a lock has pins for other systems as well.
  wheels =
    pin:
    let
      known = files.wheels.${pin};
    in
    map (file: {
      inherit (file) name;
      path = wheel file;
    }) (lib.attrValues (lib.filterAttrs (on: _: on == "any" || on == here) known));
in
{
  # The source distribution of a target's table [sdist].
  sdist =
    { name, version, ... }:
    let
      file = files.sdists."${name}==${version}";
      base = lib.removeSuffix ".tar.gz" file.name;
    in
    pkgs.fetchPypi {
      inherit version;
      inherit (file) sha256;
      pname = lib.removeSuffix "-${version}" base;
    };

  # An environment, and perhaps another one that has the standard library's bytecode already.
  of =
    lock: twin:
    let
      # By what it says alone: targets with the same lock share one environment.
      named = builtins.path {
        path = lock;
        name = "requirements.lock";
      };
    in
    pkgs.runCommand "hermutic-environment" { } ''
      export HOME=$TMPDIR PIP_NO_INDEX=1 PIP_NO_CACHE_DIR=1
      export PIP_FIND_LINKS=${pkgs.linkFarm "hermutic-wheels" (lib.concatMap wheels (pins named))}
      ${python3}/bin/python3 -I -B ${tool}/harness/private/environment.py ${named} $out \
        ${lib.optionalString (twin != null) "${twin}"}
      :
    '';
}
