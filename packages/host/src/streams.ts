/** Reads a stream to its end. @throws RangeError beyond `maxBytes`, which names it as `what` */
export async function readToEnd(
  stream: AsyncIterable<Buffer | string>,
  maxBytes: number,
  what: string,
): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > maxBytes) throw new RangeError(`${what} is too long`)
    chunks.push(Buffer.from(chunk))
  }
  return Buffer.concat(chunks).toString('utf8')
}
