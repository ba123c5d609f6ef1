{
  description = "What flake.nix uses of nixpkgs, over the tools of a Debian machine";

  outputs =
    { self }:
    let
      lib = import ./lib.nix;
    in
    {
      inherit lib;
      legacyPackages = lib.genAttrs [
        "aarch64-darwin"
        "aarch64-linux"
        "x86_64-linux"
      ] (system: import ./packages.nix { inherit lib system; });
    };
}
