/** What docs/api.md says about an endpoint. */
export interface Told {
  /** The heading above its row. */
  section: string
  does: string
}

const ROW = /^\| `([A-Z]+ \/api\S*)` \| (\S.*?) \| .*\|$/

/** By method and path, like `GET /api/nodes/:id`, in the order of the page. */
export function readSummaries(page: string): Map<string, Told> {
  const told = new Map<string, Told>()
  let section = ''
  for (const line of page.split('\n')) {
    if (line.startsWith('### ')) section = line.slice(4)
    const [, endpoint, does] = ROW.exec(line) ?? []
    if (endpoint && does) told.set(endpoint, { section, does: plain(does) })
  }
  return told
}

/** Without the marks of Markdown. */
function plain(text: string): string {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[*`]/g, '')
}
