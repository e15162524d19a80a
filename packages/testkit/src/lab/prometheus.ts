import { mkdirSync, writeFileSync } from 'node:fs'
import { until } from '../until.ts'
import type { Host } from './network.ts'
import { startListening } from './upstreams.ts'

/** Debian's Prometheus on a host. */
export interface Prometheus {
  /** What a query finds now. @throws with what Prometheus says of a query that it cannot read */
  query(text: string): Promise<Found[]>
  stop(): Promise<void>
}

export interface Found {
  metric: Readonly<Record<string, string>>
  value: number
}

const PORT = 9090

/** Looks at a target each second, with a token. @param rules files of rules */
export async function startPrometheus(
  host: Host,
  dir: string,
  { target, token, rules = [] as string[] }: { target: string; token: string; rules?: string[] },
): Promise<Prometheus> {
  mkdirSync(dir, { recursive: true })
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: rules,
    scrape_configs: [
      { job_name: 'postern', authorization: { credentials: token }, static_configs: [{ targets: [target] }] },
    ],
  }
  // JSON is YAML.
  writeFileSync(`${dir}/prometheus.yml`, JSON.stringify(config))
  const command = [
    'prometheus',
    `--config.file=${dir}/prometheus.yml`,
    `--storage.tsdb.path=${dir}/prometheus`,
    `--web.listen-address=127.0.0.1:${PORT}`,
  ]
  const program = await startListening(host, command, dir, 'prometheus', PORT)
  const query = async (text: string): Promise<Found[]> => {
    const url = `http://127.0.0.1:${PORT}/api/v1/query?query=${encodeURIComponent(text)}`
    const answer = JSON.parse(await host.must('curl', '-s', '-m', '30', url)) as Answer // of its documented API
    if (answer.status !== 'success') throw new Error(`${text}: ${answer.error}`)
    return answer.data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }))
  }
  await until('Prometheus to have scraped', async () => (await query('up'))[0]?.value === 1)
  return { query, stop: () => program.stop() }
}

interface Answer {
  status: string
  error?: string
  data: { result: { metric: Record<string, string>; value: [number, string] }[] }
}
