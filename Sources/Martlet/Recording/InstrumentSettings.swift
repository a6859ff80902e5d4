/// The part of the configuration that instruments need.
struct InstrumentSettings: Sendable {
    /// The patterns that select the captured requests.
    let selection: RequestSelection
    /// The service's own decisions on names and on requests to leave out.
    let decisions: ServiceDecisions
    /// The sampler that decides which traces' details are kept.
    let sampler: TraceSampler
    /// Whether requests carry `traceparent` and `tracestate`.
    let propagates: Bool
    /// The header fields and bodies that kept details contain.
    let contents: DetailContents
    /// The time in flight after which a request counts as hung.
    let hung: Duration

    init(_ configuration: MartletConfiguration) {
        selection = RequestSelection(include: configuration.include, exclude: configuration.exclude)
        decisions = ServiceDecisions(configuration)
        sampler = TraceSampler(rate: configuration.sampleRate)
        propagates = configuration.propagate
        contents = DetailContents(configuration)
        hung = configuration.hung
    }
}
