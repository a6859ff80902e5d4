import MartletPoints

/// Takes the points that a commit of a store added, and the number of spans. Neither includes data stored before.
package typealias OnStored = @Sendable (_ points: [InstanceMetrics], _ spans: Int) -> Void
