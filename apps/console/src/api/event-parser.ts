export interface StreamEvent {
  data: string
  /** `message` unless the server named it. */
  name: string
  id: string | undefined
}

/**
 * Cuts the text of an event stream into its events; comments and other fields are passed over.
 * @param limit characters that one unfinished event may have.
 */
export function createEventParser(limit: number) {
  let rest = ''
  return (chunk: string): StreamEvent[] => {
    const blocks = (rest + chunk).replace(/\r\n?/g, '\n').split('\n\n')
    rest = blocks.pop() ?? ''
    if (rest.length > limit) throw new RangeError('An event of the stream is too long')
    return blocks.map(parseBlock).filter((event) => event !== undefined)
  }
}

function parseBlock(block: string): StreamEvent | undefined {
  const lines = block.split('\n')
  const values = (name: string) =>
    lines
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''))
  const data = values('data')
  return data.length === 0
    ? undefined
    : { data: data.join('\n'), name: values('event').at(-1) ?? 'message', id: values('id').at(-1) }
}
