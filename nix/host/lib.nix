# The functions of nixpkgs' library that the flake uses, by the same names and with the same results.
let
  inherit (builtins)
    attrNames
    concatStringsSep
    elem
    filter
    fromJSON
    fromTOML
    isString
    listToAttrs
    map
    mapAttrs
    readFile
    split
    stringLength
    substring
    ;
in
rec {
  inherit (builtins)
    attrNames
    attrValues
    concatMap
    elemAt
    genList
    length
    mapAttrs
    ;

  nameValuePair = name: value: { inherit name value; };
  genAttrs = names: make: listToAttrs (map (name: nameValuePair name (make name)) names);
  filterAttrs =
    keep: set: genAttrs (filter (name: keep name set.${name}) (attrNames set)) (name: set.${name});
  mapAttrs' = make: set: listToAttrs (mapAttrsToList make set);
  mapAttrsToList = make: set: map (name: make name set.${name}) (attrNames set);

  concatMapStringsSep = between: make: list: concatStringsSep between (map make list);
  optionalString = wanted: text: if wanted then text else "";
  removeSuffix =
    suffix: text:
    let
      kept = stringLength text - stringLength suffix;
    in
    if kept >= 0 && substring kept (-1) text == suffix then substring 0 kept text else text;
  # For separators that mean nothing in a regular expression.
  splitString = separator: text: filter isString (split separator text);

  importJSON = file: fromJSON (readFile file);
  importTOML = file: fromTOML (readFile file);

  fileset = {
    # Of the real library's file sets: a list of files and folders.
    unions = files: files;
    toSource =
      { root, fileset }:
      let
        wanted = map toString fileset;
        isIn = path: folder: path == folder || substring 0 (stringLength folder + 1) path == folder + "/";
      in
      {
        outPath = builtins.path {
          path = root;
          name = "source";
          filter = path: _: builtins.any (one: isIn path one || isIn one path) wanted;
        };
      };
  };
}
