/// A point in time in the unit of OTLP: nanoseconds since 1970-01-01T00:00:00Z.
package typealias UnixNanoseconds = UInt64
