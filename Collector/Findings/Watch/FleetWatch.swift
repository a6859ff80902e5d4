import MartletStorage
import MartletTelemetry

/// Watches a store: once a minute it reads the counts of the minute that has ended, and finds what happened. Safe to use from any
/// task.
package actor FleetWatch {
    private let storage: any Storage

    package init(of storage: some Storage) {
        self.storage = storage
    }

    /// Returns the findings of a window, as of the last tick.
    package func findings(_ question: FindingsQuestion) async -> FindingsAnswer {
        FindingsAnswer(findings: [], count: 0, isComplete: false)
    }
}
