import { cruise, type IRegularForbiddenRuleType } from 'dependency-cruiser'
import { IMPORT_RULES, type ImportRule } from './import-rules.ts'

export interface Violation {
  /** The file that imports, or all files of a circle. */
  files: string[]
  to: string
  because: string
}

/** Checks all imports below `root` against the rules; import circles are never allowed. */
export async function findViolations(root: string): Promise<Violation[]> {
  const { output } = await cruise(['apps', 'packages', 'scripts', 'tests', 'bench'], {
    baseDir: root,
    ruleSet: { forbidden: [...IMPORT_RULES.map(forbidden), CIRCLE] },
    validate: true,
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(apps/[^/]+|scripts)/dist/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  })
  if (typeof output === 'string') throw new Error('dependency-cruiser answered with a text')
  if (output.summary.totalCruised === 0) throw new Error(`no imports were found below ${root}`)
  return output.summary.violations.map(({ from, to, rule, cycle }) => ({
    files: cycle?.map(({ name }) => name) ?? [from],
    to,
    because: reasonOf(rule.name),
  }))
}

const CIRCLE: IRegularForbiddenRuleType = {
  name: 'circle',
  severity: 'error',
  from: {},
  to: { circular: true },
}
const TEST = '(\\.test\\.tsx?|\\.fixture\\.ts)$|^apps/[^/]+/test/'

function reasonOf(rule: string): string {
  return IMPORT_RULES[Number(rule)]?.because ?? 'These files import each other in a circle.'
}

function forbidden(rule: ImportRule, index: number): IRegularForbiddenRuleType {
  const { only, never = [], except = [] } = rule
  const from = { path: anyOf(rule.from), pathNot: [TEST, ...except.map(pattern)].join('|') }
  // A star stands for one folder; files of the same folder may always import each other.
  const own = rule.from.map((place) => pattern(place).replace('([^/]+)', '$1'))
  const isStarred = rule.from.some((place) => place.includes('*'))
  const to = only
    ? { pathNot: [...own, ...only.map(pattern)].join('|') }
    : { path: anyOf(never), ...(isStarred && { pathNot: own.join('|') }) }
  return { name: String(index), severity: 'error', from, to }
}

const anyOf = (places: readonly string[]) => places.map(pattern).join('|')

/** As dependency-cruiser resolves it: npm's packages are in node_modules, Node's own modules have bare names. */
function pattern(place: string): string {
  const escaped = place
    .replace(/^(npm|node):/, '')
    .replaceAll('.', '\\.')
    .replace('*', '([^/]+)')
  if (place.startsWith('npm:')) return `node_modules/${escaped.replace(/\/$/, '')}(/|\\.|$)`
  if (place.startsWith('node:')) return escaped === '' ? '^[a-z_/]+$' : `^${escaped}$`
  return place.includes('/') ? `^${escaped}` : `${escaped}$`
}
