/// The reason why requests were lost. The raw value is the `martlet.reason` attribute on the wire.
package enum DropReason: String, Sendable, Hashable, CaseIterable {
    /// The buffer was full (`MARTLET_BUFFER_MAX`). Its batches were merged into coarser intervals, and the oldest still
    /// had to be deleted.
    case bufferFull = "buffer_full"
    /// The collector refused the batch for good, or took it without some of its requests.
    case rejected
    /// The batch's file was gone when its turn came: another instance of the service deleted it to make room, or a person
    /// or another program removed it.
    case gone
    /// The batch's file differs from the bytes that were written, because the disk lost or changed some. The file is in
    /// `quarantine/`.
    case corrupt
    /// The collector refused a batch of that size, and the batch could not be divided any further.
    case tooLarge = "too_large"
    /// An upload had begun, and its outcome stayed unknown for so long that the collector may have forgotten the batch.
    /// Sent once more, the batch might count twice.
    case expired
    /// A process of another version of Martlet dropped the requests, for a reason that this version does not know.
    case other
}
