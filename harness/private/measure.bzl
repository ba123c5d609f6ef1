"""The rule that measures: every mutant is an action, and its verdict is that action's output."""

load(":project.bzl", "PROJECT_ATTRIBUTES", "describe", "write_config")
load(":tool.bzl", "ToolInfo", "interpreter_of")

MeasuredInfo = provider(
    doc = "A target's measurement.",
    fields = {
        "config": "dict: the configuration without its files",
        "files": "dict from project path to File",
        "log": "File: the hash-chained log that `hermutic audit` checks",
        "report": "File: report.json",
        "text": "File: the summary for people",
    },
)

_WORKER = {
    "block-network": "1",
    "requires-worker-protocol": "json",
    "supports-workers": "1",
}
_ALONE = {"block-network": "1"}
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-"

def _slug(id):
    """A mutant's id as a file's path."""
    return "".join([
        char if char in _PLAIN else ("/" if char == ":" else "_")
        for char in id.elems()
    ])

def _slugs(ids):
    """A path for each id; those that would be the same get a number."""
    seen = {}
    found = {}
    for id in ids:
        slug = _slug(id)
        seen[slug] = seen.get(slug, 0) + 1
        found[id] = slug if seen[slug] == 1 else "%s-%d" % (slug, seen[slug])
    return found

def _step(ctx, name, mnemonic, arguments, inputs, outputs, message):
    """One step of harness/worker.py. Its arguments go through a file: workers ask for it.

    A worker's inputs are compared with its folder for each request, so a mutant's are few.
    """
    tool = ctx.attr._tool[ToolInfo]
    is_mutant = name == "mutant"
    start = ctx.actions.args()
    start.add("-I")
    if is_mutant:
        start.add("-S")  # it needs no package
    start.add_all([tool.tree], expand_directories = False)
    given = ctx.actions.args()
    given.use_param_file("@%s", use_always = True)
    given.set_param_file_format("multiline")
    given.add(name)
    arguments(given)
    ctx.actions.run(
        executable = tool.python,
        arguments = [start, given],
        tools = tool.own if is_mutant else tool.files,
        inputs = inputs,
        outputs = outputs,
        mnemonic = mnemonic,
        progress_message = message,
        execution_requirements = _WORKER if is_mutant else _ALONE,
        use_default_shell_env = True,
    )

def _measure_impl(ctx):
    files, config = describe(ctx)
    name = ctx.attr.target_name
    if not ctx.attr.mutants:
        fail("could not measure %s: its list of mutants is empty; write it with: bazel run %s.update" %
             (config["label"], config["label"]))
    environment = ctx.files.deps
    python = interpreter_of(environment, ctx.label)
    staged = write_config(
        ctx,
        name + "/config.json",
        config,
        {path: file.path for path, file in files.items()},
    )
    everything = environment + files.values() + [staged]

    measured = ctx.actions.declare_file(name + "/clean.json")

    def clean_arguments(args):
        args.add("--config", staged)
        args.add("--python", python)
        args.add("--out", measured)

    _step(ctx, "clean", "HermuticClean", clean_arguments, everything, [measured], "Measuring %s on clean" % config["label"])

    slugs = _slugs(ctx.attr.mutants)
    plans = {id: ctx.actions.declare_file("%s/plans/%s.plan" % (name, slug)) for id, slug in slugs.items()}

    def plan_arguments(args):
        args.add("--config", staged)
        args.add("--python", python)
        args.add("--clean", measured)
        for id, plan in plans.items():
            args.add("--plan")
            args.add(id)
            args.add(plan)

    _step(ctx, "plan", "HermuticPlan", plan_arguments, everything + [measured], plans.values(), "Planning the mutants of %s" % config["label"])

    verdicts = []
    for id, plan in plans.items():
        verdict = ctx.actions.declare_file("%s/verdicts/%s.json" % (name, slugs[id]))
        verdicts.append(verdict)

        def mutant_arguments(args):
            args.add("--plan", plan)
            args.add("--python", python)
            args.add("--out", verdict)

        _step(ctx, "mutant", "HermuticMutant", mutant_arguments, environment + [plan], [verdict], "Judging %s of %s" % (id, config["label"]))

    report = ctx.actions.declare_file(name + "/report.json")
    log = ctx.actions.declare_file(name + "/log.jsonl")
    text = ctx.actions.declare_file(name + "/summary.txt")

    def report_arguments(args):
        args.add("--config", staged)
        args.add("--clean", measured)
        args.add("--out", report)
        args.add("--log", log)
        args.add("--text", text)
        args.add_all(verdicts, before_each = "--verdict")

    sources = [files[path] for path in config["sources"]]
    _step(ctx, "report", "HermuticReport", report_arguments, [staged, measured] + sources + verdicts, [report, log, text], "Reporting on %s" % config["label"])

    return [
        DefaultInfo(files = depset([report, log, text])),
        MeasuredInfo(config = config, files = files, log = log, report = report, text = text),
        OutputGroupInfo(clean = depset([measured]), plans = depset(plans.values()), verdicts = depset(verdicts)),
    ]

hermutic_measure = rule(
    implementation = _measure_impl,
    doc = """Measures a suite on clean, plans each mutant, judges it and reports.

    Output groups: clean, plans, verdicts. An action fails only if the instrument could not do its
    work; what is thought of the verdicts is `mutation_test`'s.""",
    attrs = dict(
        PROJECT_ATTRIBUTES,
        deps = attr.label_list(
            mandatory = True,
            allow_files = True,
            doc = "The environment that the tests run in: the target :files of a `pip_environment`.",
        ),
        mutants = attr.string_list(doc = "The ids of the mutants, from the checked-in list."),
        _tool = attr.label(default = "//harness:worker", providers = [ToolInfo]),
    ),
)
