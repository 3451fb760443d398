/** Writes the files that are made from the code: `npm run docs`. */
import { writeFileSync } from 'node:fs'
import { GENERATED_FILES } from './generated-files.ts'

for (const { path, content } of GENERATED_FILES) writeFileSync(new URL(`../../${path}`, import.meta.url), await content())
