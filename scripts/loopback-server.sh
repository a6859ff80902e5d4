# Source this file for an nginx on a free loopback port. It answers SoakProgram's requests and accepts every upload below /v1/.
# start_server WORK sets `server`, and stop_server ends it. WORK is a directory that the caller removes.
PATH=$PATH:/usr/sbin
nginx=

# The configuration sets every path, because nginx's default paths belong to the system's server.
server_configuration() {
    cat <<CONFIGURATION
daemon off;
worker_processes 1;
pid $1/nginx.pid;
error_log $1/error.log crit;
events { worker_connections 1024; }
http {
    access_log off;
    keepalive_requests 1000000000;
    client_max_body_size 64m;
    client_body_temp_path $1/body;
    proxy_temp_path $1/proxy;
    fastcgi_temp_path $1/fastcgi;
    uwsgi_temp_path $1/uwsgi;
    scgi_temp_path $1/scgi;
    limit_req_zone \$server_port zone=silent:1m rate=1r/m;
    server {
        listen 127.0.0.1:$2;
        root $1/files;
        add_header Cache-Control no-store always;  # Without this, Foundation would answer from its cache at once.
        location / { return 200 "ok"; }
        location /v1/ { return 200; }
        location /redirect { return 302 /landed; }
        location /missing { return 404 "no"; }
        location /broken { return 503 "no"; }
        location /file { try_files /file =404; }
        location /detour { return 302 /slow; }
        location /paced { limit_rate 30000; try_files /file =404; }  # About a second.
        location /slow { limit_rate 256; try_files /slow =404; }  # About four seconds.
        location /silent { limit_req zone=silent burst=10000; try_files /file =404; }  # A minute, except for the first request.
    }
}
CONFIGURATION
}

try_server() {
    server_configuration "$1" "$2" >"$1/nginx.conf"
    nginx -p "$1" -c "$1/nginx.conf" -e "$1/error.log" &
    nginx=$!
    for _ in {1..50}; do
        [[ -s $1/nginx.pid ]] && return
        kill -0 "$nginx" 2>/dev/null || break
        sleep 0.1
    done
    kill "$nginx" 2>/dev/null || true
    wait "$nginx" || true
    nginx=
    return 1
}

start_server() {
    local port first
    mkdir "$1/files"
    head -c 40000 /dev/zero >"$1/files/file"
    head -c 1024 /dev/zero >"$1/files/slow"
    chmod -R a+rX "$1"  # If root starts nginx, its worker runs as another user.
    for _ in {1..10}; do
        port=$((RANDOM % 10000 + 20000))  # Below the range from which the kernel assigns ports to clients.
        try_server "$1" "$port" 2>/dev/null && break
    done
    [[ -n $nginx ]] || { echo "nginx did not start:"$'\n'"$(<"$1/error.log")" >&2; return 1; }
    server=http://127.0.0.1:$port
    exec {first}<>"/dev/tcp/127.0.0.1/$port"
    printf 'GET /silent HTTP/1.0\r\n\r\n' >&"$first"
    cat <&"$first" >"$1/first"
    exec {first}>&-
}

stop_server() {
    [[ -z $nginx ]] || { kill "$nginx" && wait "$nginx"; } || true
}
