/** A message that could not be sent; the text is for people, in our words. */
export class DeliveryError extends Error {
  readonly code = 'delivery'
  /** ms that the other side wants us to wait. */
  readonly retryAfter: number | undefined
  constructor(
    message: string,
    { retryAfter, cause }: { retryAfter?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.retryAfter = retryAfter
  }
}
