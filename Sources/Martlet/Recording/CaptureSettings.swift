/// What of the configuration an instrument has to know.
struct CaptureSettings: Sendable {
    /// Which requests are seen.
    let selection: RequestSelection
    /// Which traces' details are kept.
    let sampler: TraceSampler
    /// Whether `traceparent` and `tracestate` go out.
    let propagates: Bool
    /// What kept details have of a request beside its figures.
    let contents: DetailContents
    /// A request in flight for longer counts as hung.
    let hung: Duration

    init(_ configuration: MartletConfiguration) {
        selection = RequestSelection(include: configuration.include, exclude: configuration.exclude)
        sampler = TraceSampler(rate: configuration.sampleRate)
        propagates = configuration.propagate
        contents = DetailContents(configuration)
        hung = configuration.hung
    }
}
