import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { must } from '@postern/testkit/processes/exec'
import { Ajv } from 'ajv'
import { parse, parseAllDocuments } from 'yaml'

/** Debian's Go libraries, among them the template functions that helm has. */
const GO_PATH = '/usr/share/gocode'
const SOURCE = join(import.meta.dirname, 'helm-render/main.go')

export type Values = Record<string, unknown>

export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; labels: Record<string, string> }
}

export interface Rendered {
  manifests: Manifest[]
  notes: string
}

export interface Chart {
  /** The chart's default values. */
  defaults: Values
  /**
   * As `helm template NAME CHART --values …`.
   * @throws Error with the message that helm would show
   */
  render(values: Values): Promise<Rendered>
}

/** Renders charts here, since Debian does not package helm. */
export async function buildRenderer(): Promise<{ open(dir: string): Chart; remove(): void }> {
  const dir = mkdtempSync(join(tmpdir(), 'pt-helm-'))
  mkdirSync(`${dir}/cache`)
  const settings = ['GO111MODULE=off', `GOPATH=${GO_PATH}`, `GOCACHE=${dir}/cache`]
  await must(['env', ...settings, 'go', 'build', '-o', `${dir}/render`, SOURCE], { timeoutMs: 300_000 })
  return {
    open: (chart) => openChart(chart, `${dir}/render`),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}

function openChart(dir: string, renderer: string): Chart {
  const read = (path: string) => readFileSync(join(dir, path), 'utf8')
  const meta: ChartFile = parse(read('Chart.yaml'))
  const defaults: Values = parse(read('values.yaml'))
  const isAllowed = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(
    JSON.parse(read('values.schema.json')),
  )
  const templates = Object.fromEntries(
    readdirSync(join(dir, 'templates')).map((name) => [`templates/${name}`, read(`templates/${name}`)]),
  )
  return {
    defaults,
    async render(values) {
      const all = merge(defaults, values)
      if (!isAllowed(all))
        throw new Error(
          (isAllowed.errors ?? []).map((each) => `${each.instancePath} ${each.message}`).join('; '),
        )
      const input = JSON.stringify({ Templates: templates, Top: topOf(meta, all) })
      const texts: Record<string, string> = JSON.parse(await must([renderer], { input }))
      const { 'templates/NOTES.txt': notes = '', ...files } = texts
      return { notes, manifests: Object.entries(files).flatMap(([name, text]) => readManifests(name, text)) }
    },
  }
}

interface ChartFile {
  name: string
  version: string
  appVersion: string
}

function topOf(meta: ChartFile, values: Values) {
  const { name, version, appVersion } = meta
  return {
    Values: values,
    Chart: { Name: name, Version: version, AppVersion: appVersion },
    Release: {
      Name: 'home',
      Namespace: 'postern',
      Service: 'Helm',
      IsInstall: true,
      IsUpgrade: false,
      Revision: 1,
    },
    Capabilities: { KubeVersion: { Version: 'v1.31.0', Major: '1', Minor: '31' } },
  }
}

/** Objects are merged, all else is replaced; null takes a default away. */
function merge(defaults: Values, values: Values): Values {
  const merged = { ...defaults }
  for (const [key, value] of Object.entries(values)) {
    const before = merged[key]
    if (value === null) delete merged[key]
    else merged[key] = isObject(before) && isObject(value) ? merge(before, value) : value
  }
  return merged
}

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function readManifests(name: string, text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors
    if (error) throw new Error(`${name}: ${error.message}\n${text}`)
    // The tests check it against the schemas of Kubernetes.
    const manifest = document.toJS() as Manifest | null
    return manifest ? [manifest] : []
  })
}
