import { readFileSync } from 'node:fs'

/** What `deploy/grafana` asks Prometheus, and of what it is made. */
const FOLDER = new URL('../../../deploy/grafana/', import.meta.url).pathname

export const RULES = `${FOLDER}postern-alerts.yaml`

interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[]
  templating: { list: { query: string | { query: string } }[] }
}
// A file of this repository.
const dashboard = JSON.parse(readFileSync(`${FOLDER}postern.json`, 'utf8')) as Dashboard

/** Title of the panel → query, as it is with all services and nodes. */
export const panelQueries: readonly (readonly [title: string, query: string])[] = dashboard.panels.flatMap(
  ({ title, targets = [] }) =>
    targets.map(
      ({ expr }) =>
        [title, expr.replace(/\$(service|node)\b/g, '.*').replaceAll('$__rate_interval', '1m')] as const,
    ),
)

/** What the lists above the panels are filled with: a metric and its label. */
export const variables = dashboard.templating.list.flatMap(({ query }) => {
  const text = typeof query === 'string' ? query : query.query
  const [, metric, label] = /^label_values\((\w+), (\w+)\)$/.exec(text) ?? []
  return metric && label ? [{ metric, label }] : []
})

const rules = readFileSync(RULES, 'utf8')
export const ruleQueries = [...rules.matchAll(/^ +expr: (.+)$/gm)].map(([, query = '']) => query)
/** What their texts say of the series. */
export const ruleLabels = [...rules.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label)

export const metricsIn = (query: string) => [...new Set(query.match(/\bpostern_\w+/g))]

/** Of its matchers, and of what it groups or joins by. */
export function labelsIn(query: string): string[] {
  const matched = [...query.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label)
  const grouped = [...query.matchAll(/\b(?:by|on|group_left) \(([^)]+)\)/g)].flatMap(([, list = '']) =>
    list.split(/, */),
  )
  return [...matched, ...grouped]
}

/** `{{service}} ({{node}})` → service, node */
export const legendLabels = JSON.stringify(dashboard)
  .match(/\{\{\w+\}\}/g)
  ?.map((each) => each.slice(2, -2))
