import { Option } from 'commander'

/** `--data` */
export const dataOption = (): Option =>
  new Option('--data <dir>', 'folder of the embedded database').env('UMG_DATA').default('data')

/** `--database` */
export const databaseOption = (): Option =>
  new Option('--database <url>', 'sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE').env('UMG_DATABASE_URL')
