import ArgumentParser
import MartletReports

/// The form of a command's answer, and its colours.
struct OutputOptions<Format: AnswerFormat>: ParsableArguments {
    @Option(help: "Form of the answer; docs/reports.md describes each.")
    var format = Format.table

    @OptionGroup var color: ColorOption

    var device: OutputDevice { color.device }
}
