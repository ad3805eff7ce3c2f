import { globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { parse } from 'yaml';
import { goTool } from '../go-tools.ts';
import { pythonWith } from '../python.ts';
import { assert, ROOT, run, tried } from './programs.ts';

/**
 * Where the definitions of resources that are not Kubernetes' own come from: modules of Go, whose checksums are those of the proxy.
 * What lies in them is only read.
 */
const MODULES = [
  {
    module: 'github.com/kedacore/keda/v2@v2.21.0',
    sum: 'h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=',
    files: 'config/crd/bases/keda.sh_{scaledobjects,triggerauthentications}.yaml',
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
    files: 'example/prometheus-operator-crd/monitoring.coreos.com_{podmonitors,prometheusrules}.yaml',
  },
];

interface Schema {
  $id?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: boolean | Schema;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
}

interface Definition {
  spec: {
    group: string;
    names: { kind: string };
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
  };
}

/** Fields that a resource does not have are refused, as Kubernetes' own schemas do in their strict form. */
function strict(schema: Schema): Schema {
  const { properties, items, additionalProperties } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, strict(each)])),
      ...(schema['x-kubernetes-preserve-unknown-fields'] ? {} : { additionalProperties: false }),
    }),
    ...(items && { items: strict(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: strict(additionalProperties) }),
  };
}

/** The schemas of a Python package, whose references are those of a server: they are made relative. */
async function writeSchemasOfKubernetes(target: string): Promise<string> {
  const python = await pythonWith(path.join(ROOT, 'tools/kubernetes-schemas/requirements.txt'));
  const where =
    'import importlib.util, os; print(os.path.dirname(importlib.util.find_spec("kubernetes_validate").origin))';
  const home = path.join(run(python, ['-c', where]).trim(), 'kubernetes-json-schema');
  const [newest = ''] = globSync('*-local-strict', { cwd: home }).sort((a, b) =>
    b.localeCompare(a, 'en', { numeric: true }),
  );
  for (const file of readdirSync(path.join(home, newest))) {
    const text = readFileSync(path.join(home, newest, file), 'utf8');
    // What a schema is called there would be the base of its references.
    const { $id: _, ...schema } = JSON.parse(
      text.replaceAll('"/api/_definitions.json', '"_definitions.json'),
    ) as Schema;
    writeFileSync(path.join(target, file), JSON.stringify(schema));
  }
  return newest;
}

/** Of KEDA and of the operator of Prometheus, which Kubernetes knows by their definitions. */
function writeSchemasOfOthers(target: string): void {
  // Outside of any module, and whatever the user's own settings of Go are.
  const env = ['-u', 'GOFLAGS', 'GOWORK=off', 'go', '-C', '/', 'mod', 'download', '-json'];
  for (const { module, sum, files } of MODULES) {
    const { status, stdout, stderr } = tried('env', [...env, module]);
    if (status !== 0) throw new Error(`${module} can't be had: ${stdout}${stderr}`);
    const { Dir, Sum } = JSON.parse(stdout) as { Dir: string; Sum: string };
    assert(Sum === sum, `${module} has the checksum ${Sum}`);
    for (const file of globSync(files, { cwd: Dir })) {
      const { group, names, versions } = (parse(readFileSync(path.join(Dir, file), 'utf8')) as Definition).spec;
      for (const { name, schema } of versions) {
        const as = `${names.kind}-${group.split('.')[0]}-${name}.json`.toLowerCase();
        writeFileSync(path.join(target, as), JSON.stringify(strict(schema.openAPIV3Schema)));
      }
    }
  }
}

/** Says what is wrong with manifests. */
export interface Validator {
  version: string;
  /** @throws Error with each resource that is not valid, or of a kind that is not known */
  validate(text: string): void;
}

/** @param folder for the schemas */
export async function createValidator(folder: string): Promise<Validator> {
  const kubeconform = await goTool('kubeconform', (line) => process.stderr.write(`${line}\n`));
  const target = path.join(folder, 'schemas');
  mkdirSync(target);
  const newest = await writeSchemasOfKubernetes(target);
  writeSchemasOfOthers(target);
  const location = `${target}/{{.ResourceKind}}{{.KindSuffix}}.json`;
  return {
    version: newest.replace('-local-strict', ''),
    validate: (text) => void run(kubeconform, ['-strict', '-schema-location', location, '-'], text),
  };
}
