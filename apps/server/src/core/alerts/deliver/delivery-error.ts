/** A message that could not be sent; the text is for people, in our words. */
export class DeliveryError extends Error {
  readonly code = 'delivery'
  /** ms that the other side wants us to wait. */
  readonly retryAfter: number | undefined
  /** The same message will not be taken at another try either; another one may. */
  readonly isFinal: boolean
  constructor(
    message: string,
    { retryAfter, isFinal = false, cause }: { retryAfter?: number; isFinal?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.retryAfter = retryAfter
    this.isFinal = isFinal
  }
}
