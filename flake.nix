{
  description = "A mutation-testing instrument for Python whose every verdict can be proved";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "aarch64-darwin"
        "aarch64-linux"
        "x86_64-linux"
      ];
      perSystem = nixpkgs.lib.genAttrs systems (
        system: import ./nix { pkgs = nixpkgs.legacyPackages.${system}; }
      );
      each = make: nixpkgs.lib.mapAttrs (_: make) perSystem;
    in
    {
      packages = each (hermutic: {
        default = hermutic.command;
        study = hermutic.study;
      });
      # One target's verdicts: nix build .#targets.NAME
      legacyPackages = each (hermutic: { inherit (hermutic) targets; });
      apps = each (hermutic: {
        default = {
          type = "app";
          program = "${hermutic.command}/bin/hermutic";
          meta.description = "Measure a project";
        };
        reproduce = {
          type = "app";
          program = "${hermutic.reproduce}/bin/hermutic-reproduce";
          meta.description = "Rebuild the study, and compare it with the published one";
        };
      });
      checks = each (hermutic: hermutic.checks);
      devShells = each (hermutic: { default = hermutic.shell; });
    };
}
