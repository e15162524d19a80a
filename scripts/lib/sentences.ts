import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

/** A node of the syntax tree; only some kinds matter. */
interface Node {
  type: string
  [key: string]: unknown
}

/** Three words or more, on one line, that begin like a sentence, or with a value and its verb. */
const SENTENCE =
  /^([A-Z]|… (is|has|does|did|needs|answered|refused|cannot|belongs|knows|gave|must|resolves) ).*[a-z…)] [\w…'(].* \S+$/

/** The sentences in the sources below these folders, with `…` for each value. Log lines are left out. */
export function collectSentences(root: string, folders: readonly string[]): Set<string> {
  const found = new Set<string>()
  for (const program of parseFiles(root, folders)) visit(program, found)
  return found
}

/** The messages with which errors of these classes are created, in the same form. */
export function collectErrors(
  root: string,
  folders: readonly string[],
  classes: readonly string[],
): Set<string> {
  const found = new Set<string>()
  const look = (node: Node): void => {
    if (node.type === 'NewExpression' && isNode(node.callee) && classes.includes(String(node.callee.name)))
      for (const argument of node.arguments as Node[]) {
        const text = textOf(argument)?.trim()
        // Anything shorter is a code, or only passes on another program's message.
        if (text !== undefined && /[a-z] [a-z]/i.test(text)) found.add(text)
      }
    for (const child of childrenOf(node)) look(child)
  }
  for (const program of parseFiles(root, folders)) look(program)
  return found
}

function parseFiles(root: string, folders: readonly string[]): Node[] {
  return (
    folders
      .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
      .filter((file) => !file.endsWith('.test.ts'))
      // The parser's own type has no index signature.
      .map((file) => parseAst(readFileSync(join(root, file), 'utf8'), { lang: 'ts' }) as unknown as Node)
  )
}

function visit(node: Node, found: Set<string>): void {
  if (isLogCall(node)) return
  const text = textOf(node)
  if (text !== undefined) {
    if (SENTENCE.test(text)) found.add(text.trim())
    return
  }
  for (const child of childrenOf(node)) visit(child, found)
}

function childrenOf(node: Node): Node[] {
  return Object.values(node).flat().filter(isNode)
}

/** The text of a literal, a template, or several of them concatenated. */
function textOf(node: Node): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined
  if (node.type === 'TemplateLiteral') {
    const parts = node.quasis as { value: { cooked: string } }[]
    const values = node.expressions as Node[]
    return parts.map(({ value }, at) => value.cooked + placeOf(values[at])).join('')
  }
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return undefined
  const [left, right] = [node.left, node.right].map((side) => (isNode(side) ? textOf(side) : undefined))
  return left === undefined || right === undefined ? undefined : left + right
}

/** What stands for a value. */
function placeOf(value: Node | undefined): string {
  if (!value) return ''
  const isQuoted =
    value.type === 'CallExpression' && isNode(value.callee) && nameOf(value.callee) === 'quoted'
  return isQuoted ? '“…”' : '…'
}

function isLogCall(node: Node): boolean {
  if (node.type !== 'CallExpression' || !isNode(node.callee)) return false
  const { object, property } = node.callee
  return (
    isNode(object) && isNode(property) && /log$/i.test(String(nameOf(object))) && property.name !== 'push'
  )
}

function nameOf(node: Node): unknown {
  return node.type === 'MemberExpression' && isNode(node.property) ? node.property.name : node.name
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}
