import { setImmediate } from 'node:timers/promises'
import type { Family } from './family.ts'

/** The format that every Prometheus reads. */
export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Samples that are made text at a time: some 100 kB. In between, the server does what else it has to do. */
const AT_ONCE = 1000

export async function* renderPrometheus(families: AsyncIterable<Family>): AsyncGenerator<string> {
  for await (const { name, kind, help, samples } of families) {
    let text = `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`
    let count = 0
    for (const [labels, value] of samples) {
      text += `${name}${labels.text} ${value}\n`
      if (++count % AT_ONCE > 0) continue
      yield text
      text = ''
      await setImmediate()
    }
    if (text) yield text
  }
}
