import { parseSync } from 'vite';
import { globSync, readFileSync } from 'node:fs';
const out: Record<string, Record<string, Set<string>>> = {attr:{},prop:{},arg:{},other:{}};
const add=(k:string,n:string,s:string)=>{(out[k][n]??=new Set()).add(s)};
for (const f of globSync('src/**/*.{ts,tsx}')) {
  const code=readFileSync(f,'utf8');
  const r=parseSync(f,code);
  const walk=(n:any,path:any[])=>{
    if(!n||typeof n!=='object')return;
    if(Array.isArray(n)){for(const x of n)walk(x,path);return}
    if(typeof n.type==='string'){
      if(n.type.startsWith('TS')&&!/TSAs|TSSat|TSNonNull/.test(n.type))return;
      if(n.type==='ImportDeclaration'||n.type==='ExportNamedDeclaration'&&n.source)return;
      let s: string|undefined;
      if(n.type==='Literal'&&typeof n.value==='string')s=n.value;
      if(n.type==='TemplateLiteral')s=code.slice(n.start,n.end);
      if(s&&/[A-Za-z]{2}/.test(s)){
        let i=path.length-1, where='other', name='';
        for(;i>=0;i--){const p=path[i];
          if(/Conditional|Logical|TSAs|Template|JSXExpressionContainer|Binary/.test(p.type))continue;
          if(p.type==='JSXAttribute'){where='attr';name=p.name.name?.name??p.name.name;break}
          if(p.type==='Property'){ if(p.key===n){where='key'} else {where='prop';name=p.key.name??p.key.value;} break}
          if(p.type==='CallExpression'||p.type==='NewExpression'){where='arg';name=code.slice(p.callee.start,p.callee.end).slice(-40);break}
          name=p.type;break;
        }
        if(where!=='key')add(where==='other'?'other':where,String(name),s.slice(0,70));
      }
    }
    const np=typeof n.type==='string'?[...path,n]:path;
    for(const k in n)if(k!=='parent'&&typeof n[k]==='object')walk(n[k],np);
  };
  walk(r.program,[]);
}
for(const k in out)for(const [n,s] of Object.entries(out[k]).sort((a,b)=>b[1].size-a[1].size))console.log(`${k} ${n} (${s.size}): ${[...s].slice(0,Number(process.argv[2]??12)).map(x=>JSON.stringify(x)).join(' ')}`);
