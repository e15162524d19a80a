import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeOpenApi, OPENAPI_FILE } from './lib/openapi/document.ts'

/** `npm run openapi`: writes the contract as an OpenAPI document. */

const root = join(import.meta.dirname, '..')
writeFileSync(join(root, OPENAPI_FILE), `${JSON.stringify(await makeOpenApi(root), null, 1)}\n`)
